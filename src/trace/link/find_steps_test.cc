#include "trace/link/find_steps.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/read/oddities.h"

namespace stepcast::trace {
namespace {

using std::chrono::microseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Range {
  std::string_view name;
  int64_t start = 0;
  int64_t end = 0;
};

struct Found {
  std::vector<std::string> steps{};  // "number: start-end"
  bool marked = false;
  int64_t no_steps = 0;
};

ProfilerTrace Trace(const std::vector<Range>& ranges) {
  ProfilerTrace trace;
  for (const Range& range : ranges) {
    trace.host_events.push_back(
        {.name = trace.strings.Intern(range.name),
         .start = microseconds(range.start),
         .duration = microseconds(range.end - range.start)});
  }
  return trace;
}

Found Find(ProfilerTrace trace) {
  Rules rules = Rules::Load().value();
  LinkedTrace linked{.trace = std::move(trace)};
  Diagnostics diagnostics;
  FindSteps(linked, rules, diagnostics);
  Found found{.marked = linked.steps_marked,
              .no_steps = diagnostics.count(kNoSteps)};
  for (const Step& step : linked.steps) {
    found.steps.push_back(fmt::format("{}: {}-{}", step.number,
                                      step.start / microseconds(1),
                                      step.end() / microseconds(1)));
  }
  return found;
}

TEST(FindStepsTest, TheProfilerMarksSteps) {
  const Found found = Find(Trace({{"aten::add", 0, 5},
                                  {"ProfilerStep#11", 110, 200},
                                  {"ProfilerStep#10", 10, 100},
                                  {"Optimizer.step#SGD.step", 80, 90}}));
  EXPECT_THAT(found.steps, ElementsAre("10: 10-100", "11: 110-200"));
  EXPECT_TRUE(found.marked);
  EXPECT_EQ(found.no_steps, 0);
}

TEST(FindStepsTest, AMarkWithoutANumberIsAStepAllTheSame) {
  EXPECT_THAT(Find(Trace({{"ProfilerStep#x", 10, 100},
                          {"ProfilerStep#99999999999999999999", 110, 120}}))
                  .steps,
              ElementsAre("-1: 10-100", "-1: 110-120"));
}

// Without marks a step goes from the end of one optimizer range to the end of
// the next; the first begins with the trace.
TEST(FindStepsTest, TheOptimizerEndsSteps) {
  const Found found = Find(Trace({{"aten::add", 5, 20},
                                  {"Optimizer.step#SGD.step", 30, 40},
                                  {"aten::add", 50, 60},
                                  {"Optimizer.step#SGD.step", 70, 85}}));
  EXPECT_THAT(found.steps, ElementsAre("0: 5-40", "1: 40-85"));
  EXPECT_FALSE(found.marked);
}

TEST(FindStepsTest, OfTwoOptimizersTheLastInAStepEndsIt) {
  const Found found = Find(Trace({{"Optimizer.step#Adagrad.step", 10, 20},
                                  {"Optimizer.step#SGD.step", 25, 30},
                                  {"Optimizer.step#Adagrad.step", 40, 50},
                                  {"Optimizer.step#SGD.step", 55, 60}}));
  EXPECT_THAT(found.steps, ElementsAre("0: 10-30", "1: 30-60"));
}

TEST(FindStepsTest, WithoutAnyMarkTheWholeTraceIsOneStep) {
  ProfilerTrace trace = Trace({{"aten::add", 5, 20}});
  trace.device_events.push_back(
      {.start = microseconds(10), .duration = microseconds(90)});
  const Found found = Find(std::move(trace));
  EXPECT_THAT(found.steps, ElementsAre("0: 5-100"));
  EXPECT_EQ(found.no_steps, 1);
}

TEST(FindStepsTest, AnEmptyTraceHasNoStep) {
  EXPECT_THAT(Find(ProfilerTrace()).steps, IsEmpty());
}

}  // namespace
}  // namespace stepcast::trace
