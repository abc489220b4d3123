#include "timeline/silent_waits.h"

#include <gtest/gtest.h>

#include "ir/graph_testing.h"

namespace stepcast::timeline {
namespace {

std::vector<SilentWait> WaitsIn(std::string_view text) {
  const ir::Graph graph = ir::GraphOf(text);
  return FindSilentWaits(graph.data(), MeasuredPlan(graph.data()));
}

// main    [op]                              [op]
// stream      [=============================]
TEST(SilentWaitsTest, ALongGapWhileTheDeviceIsBusyIsAWait) {
  const auto waits = WaitsIn(R"(stepcast-graph 1
rank 0 @0+3000
  thread main
    op "aten::mm" @0+20
      call launch "cudaLaunchKernel" @5+5
        s7: opaque "k" @15+2480
    op "aten::mm" @2500+10
)");
  ASSERT_EQ(waits.size(), 1);
  EXPECT_EQ(waits[0].segment, 4);  // t1 t2 t4 t3, then this.
  EXPECT_EQ(waits[0].activity, ir::ActivityId{0});
}

TEST(SilentWaitsTest, ALongGapWhileTheDeviceIsIdleIsWork) {
  EXPECT_TRUE(WaitsIn(R"(stepcast-graph 1
rank 0 @0+3000
  thread main
    op "aten::mm" @0+20
      call launch "cudaLaunchKernel" @5+5
        s7: opaque "k" @15+900
    op "aten::mm" @2500+10
)")
                  .empty());
}

TEST(SilentWaitsTest, ShortGapsAreWork) {
  EXPECT_TRUE(WaitsIn(R"(stepcast-graph 1
rank 0 @0+1000
  thread main
    op "aten::mm" @0+20
      call launch "cudaLaunchKernel" @5+5
        s7: opaque "k" @15+980
    op "aten::mm" @990+10
)")
                  .empty());
}

TEST(SilentWaitsTest, ACallThatTakesAsLongAsTheDeviceIsAWait) {
  const auto waits = WaitsIn(R"(stepcast-graph 1
rank 0 @0+3000
  thread main
    op "aten::to" @0+2100
      call other "cudaFree" @10+2000
  s7: opaque "k" @-5+2010
)");
  ASSERT_EQ(waits.size(), 1);
  EXPECT_EQ(waits[0].segment, 2);
}

TEST(SilentWaitsTest, TheHostWaitsForProcessesThatLoadData) {
  const auto waits = WaitsIn(R"(stepcast-graph 1
rank 0 @0+5000
  thread main
    annotation "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__" @10+4000
      op "aten::empty" @3000+10
    annotation "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__" @4010+900
      op "aten::empty" @4100+10
)");
  ASSERT_EQ(waits.size(), 1);
  EXPECT_EQ(waits[0].segment, 0);
  EXPECT_FALSE(waits[0].activity.valid());
}

}  // namespace
}  // namespace stepcast::timeline
