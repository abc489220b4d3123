#include "learn/fit/overheads/held_out_overheads.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/graph_testing.h"

namespace stepcast::learn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A rank whose step is one op of `us` with 10 us around it.
std::string RankText(int number, int us) {
  return fmt::format(
      "rank {} @0+{}\n  thread main\n    op \"aten::view\" @10+{}\n", number,
      us + 20, us);
}

StepGraph StepOf(int64_t number, const std::vector<int>& ranks) {
  std::string text = "stepcast-graph 1\n";
  for (size_t i = 0; i < ranks.size(); ++i) {
    text += RankText(static_cast<int>(i), ranks[i]);
  }
  return {.step = number, .graph = ir::GraphOf(text)};
}

std::vector<double> Predicted(const Result<HeldOut>& held_out) {
  EXPECT_TRUE(held_out) << held_out.error().message;
  std::vector<double> times;
  for (const HeldOutRank& row : held_out->rows) {
    times.push_back(ToMicroseconds(row.predicted));
  }
  return times;
}

TEST(PredictHeldOutTest, StepsArePredictedFromTheOtherHalf) {
  std::vector<StepGraph> steps;
  for (const int us : {100, 110, 120, 130}) {
    steps.push_back(StepOf(us, {us}));
  }
  // From (110 + 130) / 2 and from (100 + 120) / 2, and 20 us around.
  EXPECT_THAT(Predicted(PredictHeldOut(steps, {})),
              ElementsAre(140, 130, 140, 130));
}

TEST(PredictHeldOutTest, LongStepsAreLeftOut) {
  std::vector<StepGraph> steps;
  for (const int us : {1000, 100, 110}) {
    steps.push_back(StepOf(us, {us}));
  }
  const auto held_out = PredictHeldOut(steps, {});
  EXPECT_THAT(Predicted(held_out), ElementsAre(130, 120));
  EXPECT_EQ(held_out->unsteady, 1);
  EXPECT_FALSE(held_out->by_rank);
}

TEST(SteadyStepsTest, AStepWithoutOpsIsNotSteadyWhereOthersHaveSome) {
  std::vector<StepGraph> steps;
  steps.push_back(StepOf(1, {100}));
  steps.push_back(
      {.step = 2, .graph = ir::GraphOf("stepcast-graph 1\nrank 0 @0+5\n")});
  EXPECT_THAT(SteadySteps(steps), ElementsAre(true, false));
}

TEST(PredictHeldOutTest, RanksOfOneStepArePredictedFromTheOthers) {
  std::vector<StepGraph> steps;
  steps.push_back(StepOf(1, {100, 110, 130}));
  const auto held_out = PredictHeldOut(steps, {});
  EXPECT_THAT(Predicted(held_out), ElementsAre(140, 135, 125));
  EXPECT_TRUE(held_out->by_rank);
}

TEST(PredictHeldOutTest, OneStepOfOneRankHasNoOtherHalf) {
  std::vector<StepGraph> steps;
  steps.push_back(StepOf(1, {100}));
  const auto held_out = PredictHeldOut(steps, {});
  ASSERT_FALSE(held_out);
  EXPECT_THAT(held_out.error().message, HasSubstr("no other half"));
}

}  // namespace
}  // namespace stepcast::learn
