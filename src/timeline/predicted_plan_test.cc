#include "timeline/predicted_plan.h"

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/overheads/overhead_testing.h"
#include "ir/graph_testing.h"
#include "timeline/segment_key.h"

namespace stepcast::timeline {
namespace {

using ir::GraphOf;
using ::testing::ElementsAre;

cost::OverheadTable PlanTable() {
  cost::OverheadData data;
  data.name = "test";
  data.profiler_us_per_event = 0.5;
  data[cost::OverheadPart::kBetweenOps] = {{"aten::mm", cost::FixedRow(4, 1)},
                                           {"(end)", cost::FixedRow(9, 0)},
                                           {"*", cost::FixedRow(3, 0)}};
  data[cost::OverheadPart::kBeforeLaunch] = {
      {"aten::mm", cost::FixedRow(20, 2)}};
  data[cost::OverheadPart::kAfterLaunch] = {{"aten::mm", cost::FixedRow(5, 0)}};
  data[cost::OverheadPart::kCall] = {
      {"launch cudaLaunchKernel", cost::FixedRow(6, 1)},
      {"blocking cudaStreamSynchronize", cost::FixedRow(2, 1)}};
  data[cost::OverheadPart::kBetweenLaunches] = {
      {"aten::mm", cost::FixedRow(7, 0)}};
  data[cost::OverheadPart::kNoLaunch] = {{"aten::view", cost::FixedRow(1, 1)}};
  data[cost::OverheadPart::kHandoff] = {{"start", cost::FixedRow(100, 0)},
                                        {"finish", cost::FixedRow(50, 0)}};
  data[cost::OverheadPart::kSyncTail] = {
      {"blocking cudaStreamSynchronize", cost::FixedRow(8, 0)}};
  return cost::OverheadTable(std::move(data));
}

// "t1 aten::mm 4", one a segment; blocking calls with their tail after "+".
std::vector<std::string> SegmentsOf(const ir::Graph& graph,
                                    const HostPlan& plan, uint32_t thread) {
  const ir::ThreadId id{thread};
  const std::vector<SegmentKey> keys = KeysOf(graph.data(), plan, id);
  std::vector<std::string> texts;
  for (size_t i = 0; i < keys.size(); ++i) {
    const HostSegment& segment = plan.threads[id][i];
    texts.push_back(fmt::format("{} {} {}", Name(keys[i].part),
                                KeyText(graph.data(), keys[i]),
                                ToMicroseconds(segment.duration)));
    if (segment.tail != Duration{}) {
      texts.back() += fmt::format("+{}", ToMicroseconds(segment.tail));
    }
  }
  return texts;
}

TEST(PredictedPlanTest, HasTheMeasuredSegmentsWithTheTimesOfTheTable) {
  const ir::Graph graph = GraphOf(R"(stepcast-graph 1
rank 0 @0+200
  thread main
    op "aten::mm" @10+60
      call launch "cudaLaunchKernel" @20+5
        s7: opaque "k" @30+50 #w
      call stream_sync "cudaStreamSynchronize" @40+25 #c
    op "aten::view" @90+2
  wait #w -> #c
)");
  OverheadCoverage coverage;
  const HostPlan plan =
      PredictedPlan(graph, PlanTable(), {.profiled = true}, &coverage);
  EXPECT_THAT(
      SegmentsOf(graph, plan, 0),
      ElementsAre("t1 aten::mm 4", "t2 aten::mm 20",
                  "t4 launch cudaLaunchKernel 6", "t5 aten::mm 7",
                  "t4 blocking cudaStreamSynchronize 2+8", "t3 aten::mm 5",
                  "t1 aten::view 3", "no_launch aten::view 1", "t1 (end) 9"));
  EXPECT_EQ(coverage[cost::OverheadSource::kExact].segments, 8);
  EXPECT_EQ(coverage[cost::OverheadSource::kPooled].segments, 1);
  EXPECT_EQ(coverage.not_exact.begin()->first, "t1 aten::view");
}

TEST(PredictedPlanTest, TakesTheProfilerOut) {
  const ir::Graph graph = GraphOf(R"(stepcast-graph 1
rank 0 @0+200
  thread main
    op "aten::view" @90+2
)");
  const HostPlan plan = PredictedPlan(graph, PlanTable(), {.profiled = false});
  EXPECT_THAT(
      SegmentsOf(graph, plan, 0),
      ElementsAre("t1 aten::view 3", "no_launch aten::view 0.5", "t1 (end) 9"));
}

TEST(PredictedPlanTest, ASlowHostTakesLongerForEverything) {
  const ir::Graph graph = GraphOf(R"(stepcast-graph 1
rank 0 @0+200
  thread main
    op "aten::view" @90+2
)");
  const HostPlan plan = PredictedPlan(graph, PlanTable(), {.slowness = 2});
  EXPECT_THAT(
      SegmentsOf(graph, plan, 0),
      ElementsAre("t1 aten::view 6", "no_launch aten::view 2", "t1 (end) 18"));
}

TEST(PredictedPlanTest, WithoutTimesBackwardRunsAfterForward) {
  const ir::Graph graph = GraphOf(R"(stepcast-graph 1
rank 0
  thread main
    op "aten::view" phase=optimizer
    op "aten::mm" phase=forward
      call launch "cudaLaunchKernel"
        s7: opaque "k"
    op "aten::view" phase=optimizer
  thread autograd
    op "aten::view" phase=backward
)");
  const HostPlan plan = PredictedPlan(graph, PlanTable());
  EXPECT_THAT(
      SegmentsOf(graph, plan, 0),
      ElementsAre("t1 aten::view 3", "no_launch aten::view 1", "t1 aten::mm 4",
                  "t2 aten::mm 20", "t4 launch cudaLaunchKernel 6",
                  "t3 aten::mm 5", "hand_over start 100", "hand_over finish 50",
                  "no_launch aten::view 1", "t1 (end) 9"));
  EXPECT_THAT(SegmentsOf(graph, plan, 1),
              ElementsAre("t1 aten::view 0", "no_launch aten::view 1"));
  ASSERT_EQ(plan.handoffs.size(), 2);
  EXPECT_EQ(plan.handoffs[0].from_segment, 6);
  EXPECT_EQ(plan.handoffs[0].to, ir::ThreadId{1});
  EXPECT_EQ(plan.handoffs[1].from_segment, 1);
  EXPECT_EQ(plan.handoffs[1].to_segment, 7);
}

TEST(PredictedPlanTest, TheMainThreadDoesItsPartOfBackwardMeanwhile) {
  const ir::Graph graph = GraphOf(R"(stepcast-graph 1
rank 0
  thread main
    op "aten::view" phase=forward
    op "aten::view" phase=sparse_data_dist
    op "aten::mm" phase=backward
    op "aten::view" phase=optimizer
  thread autograd
    op "aten::view" phase=backward
)");
  const HostPlan plan = OrderedPlan(graph.data());
  EXPECT_THAT(SegmentsOf(graph, plan, 0),
              ElementsAre("t1 aten::view 0", "no_launch aten::view 0",
                          "t1 aten::view 0", "no_launch aten::view 0",
                          "hand_over start 0", "no_launch aten::mm 0",
                          "hand_over finish 0", "no_launch aten::view 0",
                          "t1 (end) 0"));
}

TEST(PredictedPlanTest, WithoutTimesAndPhasesBackwardRunsAtTheEnd) {
  const ir::Graph graph = GraphOf(R"(stepcast-graph 1
rank 0
  thread main
    op "aten::view"
    call launch "cudaLaunchKernel"
      s7: opaque "k"
    op "aten::mm"
      call launch "cudaLaunchKernel"
        s7: opaque "k"
  thread autograd
    op "aten::view"
)");
  const HostPlan plan = OrderedPlan(graph.data());
  EXPECT_THAT(
      SegmentsOf(graph, plan, 0),
      ElementsAre("t1 aten::view 0", "no_launch aten::view 0", "t1 (call) 0",
                  "t4 launch cudaLaunchKernel 0", "t1 aten::mm 0",
                  "t2 aten::mm 0", "t4 launch cudaLaunchKernel 0",
                  "t3 aten::mm 0", "hand_over start 0", "hand_over finish 0"));
}

}  // namespace
}  // namespace stepcast::timeline
