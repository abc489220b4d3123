#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/graph_testing.h"
#include "timeline/host_plan.h"

namespace stepcast::timeline {
namespace {

using ir::GraphOf;
using ::testing::ElementsAre;

Duration SumOf(const std::vector<HostSegment>& segments) {
  Duration sum{};
  for (const HostSegment& segment : segments) {
    sum += segment.duration + segment.tail;
  }
  return sum;
}

// Annotations are not ops: what is below them is at the top level.
TEST(MeasuredPlanTest, TheTopLevelOpIsTheOutermostThatIsNotAnAnnotation) {
  const ir::Graph graph = GraphOf(R"(stepcast-graph 1
rank 0
  thread main
    annotation "step"
      op "outer"
        annotation "inside"
          op "inner"
      op "next"
)");
  const auto tops = TopLevelOps(graph.data());
  const ir::OpId none{};
  EXPECT_THAT(tops.items(), ElementsAre(none, ir::OpId{1}, ir::OpId{1},
                                        ir::OpId{1}, ir::OpId{4}));
}

TEST(MeasuredPlanTest, TheSegmentsOfTheMainThreadFillTheStep) {
  const ir::Graph graph = GraphOf(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    op "a" @10+40
      call launch "cudaLaunchKernel" @20+6
        s7: gemm m=1 @30+5
  thread other "loader"
    op "load" @30+20
)");
  const HostPlan plan = MeasuredPlan(graph.data());
  EXPECT_EQ(ToMicroseconds(SumOf(plan.threads[ir::ThreadId{0}])), 100);
  EXPECT_EQ(ToMicroseconds(SumOf(plan.threads[ir::ThreadId{1}])), 20);
  EXPECT_EQ(plan.starts[ir::ThreadId{0}], Duration{});
  EXPECT_EQ(ToMicroseconds(plan.starts[ir::ThreadId{1}]), 30);
  EXPECT_TRUE(plan.handoffs.empty());
}

// Each rank has its own main and autograd thread; of several autograd threads
// the busiest is waited for.
TEST(MeasuredPlanTest, HandoffsStayWithinTheirRank) {
  const ir::Graph graph = GraphOf(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    op "fwd" @0+10
    op "opt" @80+10
  thread autograd "1"
    op "idle" @5+1
  thread autograd "2"
    op "bwd1" @20+20
    op "bwd2" @40+30
rank 1 @5+100
  thread main
    op "fwd" @0+10
    op "opt" @80+10
  thread autograd "1"
    op "bwd1" @20+50
)");
  const HostPlan plan = MeasuredPlan(graph.data());
  ASSERT_EQ(plan.handoffs.size(), 4);
  EXPECT_EQ(plan.handoffs[0].from, ir::ThreadId{0});
  EXPECT_EQ(plan.handoffs[0].to, ir::ThreadId{2});
  EXPECT_EQ(plan.handoffs[2].from, ir::ThreadId{3});
  EXPECT_EQ(plan.handoffs[2].to, ir::ThreadId{4});
}

TEST(MeasuredPlanTest, WhatHasNoTimeIsCountedOverAllThreads) {
  const ir::Graph graph = GraphOf(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    op "a"
  thread other
    op "b"
)");
  const HostPlan plan = MeasuredPlan(graph.data());
  EXPECT_EQ(plan.unplaced, 2);
  EXPECT_TRUE(plan.threads[ir::ThreadId{1}].empty());
}

}  // namespace
}  // namespace stepcast::timeline
