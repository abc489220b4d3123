#include "trace/link/execution_steps.h"

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/join.h"
#include "trace/read/execution_trace_testing.h"

namespace stepcast::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A node at the top of its thread; a range if its name has a '#'.
std::string Node(int record, int thread, std::string_view name) {
  return fmt::format(
      R"({{"name": "{}", "id": {}, "rf_id": {}, "parent": 1, "seq_id": -1, )"
      R"("scope": {}, "tid": {}, "fw_tid": 0, "fw_parent": 0, )"
      R"("op_schema": "", "inputs": [], "input_shapes": [], )"
      R"("input_types": [], "outputs": [], "output_shapes": [], )"
      R"("output_types": []}})",
      name, record + 10, record, name.find('#') < name.size() ? 7 : 0, thread);
}

ExecutionTrace TraceOf(const std::vector<std::string>& nodes) {
  return TraceOfNodes(Join(nodes, ","));
}

std::vector<ExecutionStep> StepsOf(const ExecutionTrace& trace) {
  return FindExecutionSteps(trace, *Rules::Load());
}

std::vector<int64_t> NumbersOf(const ExecutionTrace& trace) {
  std::vector<int64_t> numbers;
  for (const ExecutionStep& step : StepsOf(trace)) {
    numbers.push_back(step.number);
  }
  return numbers;
}

std::vector<std::string> NamesIn(const ExecutionTrace& trace,
                                 const ExecutionStep& step) {
  std::vector<std::string> names;
  const std::vector<bool> inside = NodesOf(trace, step);
  for (const uint32_t i : OrderOfStart(trace)) {
    if (inside[i]) {
      names.emplace_back(trace.strings.view(trace.nodes[i].name));
    }
  }
  return names;
}

TEST(ExecutionStepsTest, AStepHasWhatAllThreadsStartUntilTheNext) {
  const ExecutionTrace trace = TraceOf(
      {Node(1, 1, "init"), Node(2, 1, "ProfilerStep#6"), Node(3, 1, "f6"),
       Node(4, 2, "b6"), Node(5, 1, "o6"), Node(6, 1, "ProfilerStep#7"),
       Node(7, 1, "f7"), Node(8, 2, "b7"), Node(9, 1, "o7")});
  const std::vector<ExecutionStep> steps = StepsOf(trace);
  ASSERT_EQ(steps.size(), 2);
  EXPECT_EQ(steps[0].number, 6);
  EXPECT_EQ(steps[0].ops, 3);
  EXPECT_THAT(NamesIn(trace, steps[0]),
              ElementsAre("ProfilerStep#6", "f6", "b6", "o6"));
  EXPECT_THAT(NamesIn(trace, steps[1]),
              ElementsAre("ProfilerStep#7", "f7", "b7", "o7"));
}

TEST(ExecutionStepsTest, AMarkWithoutOpsAfterItIsNotAStep) {
  const ExecutionTrace trace =
      TraceOf({Node(1, 1, "before"), Node(2, 1, "ProfilerStep#0"),
               Node(3, 1, "f"), Node(4, 1, "ProfilerStep#1")});
  EXPECT_THAT(NumbersOf(trace), ElementsAre(0));
  // It is the only one: all there is belongs to it.
  EXPECT_THAT(NamesIn(trace, StepsOf(trace).front()),
              ElementsAre("before", "ProfilerStep#0", "f", "ProfilerStep#1"));
}

TEST(ExecutionStepsTest, WithoutMarksThereAreNoSteps) {
  EXPECT_THAT(NumbersOf(TraceOf({Node(1, 1, "f"), Node(2, 2, "b")})),
              IsEmpty());
}

}  // namespace
}  // namespace stepcast::trace
