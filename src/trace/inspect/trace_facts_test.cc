#include "trace/inspect/trace_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::trace {
namespace {

using std::chrono::microseconds;

// host    [aten::a   ][aten::b]
// s7         [kernel 10-30]      [kernel 60-70]
// s22              [copy 20-45]
// s84                                    [nccl 65-95]
class TraceFactsTest : public ::testing::Test {
 protected:
  TraceFactsTest() {
    ProfilerTrace& trace = linked_.trace;
    trace.threads.resize(2);
    trace.arguments.push_back({.dims = trace.strings.Intern("[[2]]")});
    trace.host_events = {{.name = trace.strings.Intern("ProfilerStep#4"),
                          .start = microseconds(0),
                          .duration = microseconds(50),
                          .kind = HostEventKind::kAnnotation},
                         {.name = trace.strings.Intern("aten::a"),
                          .start = microseconds(0),
                          .duration = microseconds(20),
                          .external_id = 5,
                          .arguments = 0},
                         {.name = trace.strings.Intern("aten::b"),
                          .thread = 1,
                          .start = microseconds(20),
                          .duration = microseconds(10),
                          .external_id = 6}};
    AddDevice(7, 10, 30);
    AddDevice(22, 20, 45);
    trace.device_events.back().kind = DeviceEventKind::kMemcpy;
    AddDevice(7, 60, 70);
    AddDevice(84, 65, 95);
    linked_.activity_call = {0, 0, 0, kNoEvent};
    linked_.steps_marked = true;
    linked_.steps = {{.number = 4,
                      .marker = 0,
                      .start = microseconds(0),
                      .duration = microseconds(50)}};
    classified_.shapes = {ir::Gemm{}, ir::Copy{}, ir::Collective{}};
    classified_.shape_of = {0, 1, 0, 2};
  }

  void AddDevice(int64_t stream, int start, int end) {
    const auto index = static_cast<int64_t>(linked_.trace.device_events.size());
    linked_.trace.device_events.push_back(
        {.name = linked_.trace.strings.Intern("kernel"),
         .stream = stream,
         .start = microseconds(start),
         .duration = microseconds(end - start),
         .correlation = 100 + index,
         .external_id = 5 + index});
  }

  TraceFacts Facts() const { return FindTraceFacts(linked_, classified_); }

  LinkedTrace linked_;
  Classification classified_;
};

TEST_F(TraceFactsTest, BusyIsTheUnionAndSpanFirstStartToLastEnd) {
  // 10..45 and 60..95; from 10 to 95.
  EXPECT_EQ(Facts().busy, microseconds(70));
  EXPECT_EQ(Facts().span, microseconds(85));
  EXPECT_EQ(Facts().collective_busy, microseconds(30));
}

TEST_F(TraceFactsTest, AStepIsChargedOnlyWhatRanInsideIt) {
  linked_.steps.push_back({.number = 5,
                           .marker = 0,
                           .start = microseconds(50),
                           .duration = microseconds(20)});
  const TraceFacts facts = Facts();
  ASSERT_EQ(facts.steps.size(), 2U);
  EXPECT_EQ(facts.steps[0].busy, microseconds(35));  // 10..45
  EXPECT_EQ(facts.steps[1].busy, microseconds(10));  // 60..70
  EXPECT_EQ(facts.steps[1].start, microseconds(50));
  EXPECT_EQ(facts.step_source, StepSource::kMarked);
  EXPECT_EQ(facts.step_marker, "ProfilerStep");
}

TEST_F(TraceFactsTest, CountsHostAndDevice) {
  const TraceFacts facts = Facts();
  EXPECT_EQ(facts.ops, 2);
  EXPECT_EQ(facts.ops_with_shapes, 1);
  EXPECT_EQ(facts.annotations, 1);
  EXPECT_EQ(facts.threads_with_ops, 2);
  EXPECT_EQ(facts.kernels, 3);
  EXPECT_EQ(facts.copies, 1);
  EXPECT_EQ(facts.streams, 3);
  EXPECT_EQ(facts.orphans, 1);
}

TEST_F(TraceFactsTest, ExternalIdsThatNameOpsLink) {
  const TraceFacts facts = Facts();
  EXPECT_FALSE(facts.external_ids.is_correlation);
  EXPECT_EQ(facts.external_ids.linked, 2);  // 5 and 6 of 5, 6, 7, 8.
}

TEST_F(TraceFactsTest, ExternalIdsThatRepeatTheCorrelationDoNot) {
  for (DeviceEvent& event : linked_.trace.device_events) {
    event.external_id = event.correlation;
  }
  EXPECT_TRUE(Facts().external_ids.is_correlation);
}

TEST_F(TraceFactsTest, ATraceWithoutEventsHasNoTimes) {
  const TraceFacts facts = FindTraceFacts({}, {});
  EXPECT_EQ(facts.busy, Duration{});
  EXPECT_EQ(facts.span, Duration{});
  EXPECT_FALSE(facts.external_ids.is_correlation);
  EXPECT_TRUE(facts.steps.empty());
}

}  // namespace
}  // namespace stepcast::trace
