#include "cost/overheads/lin_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/overheads/lin_ops.h"
#include "cost/overheads/overhead_testing.h"
#include "ir/graph_testing.h"

namespace stepcast::cost {
namespace {

using ::testing::ElementsAre;

// T1 2, T2 10, T3 5, T4 4, T5 3, an op that launches nothing 1.
const OverheadTable& TableByPart() {
  static const auto* const table = [] {
    OverheadData data;
    data.name = "test";
    data[OverheadPart::kBetweenOps] = {{"*", FixedRow(2)}};
    data[OverheadPart::kBeforeLaunch] = {{"*", FixedRow(10)}};
    data[OverheadPart::kAfterLaunch] = {{"*", FixedRow(5)}};
    data[OverheadPart::kCall] = {{"launch cudaLaunchKernel", FixedRow(4)}};
    data[OverheadPart::kBetweenLaunches] = {{"*", FixedRow(3)}};
    data[OverheadPart::kNoLaunch] = {{"*", FixedRow(1)}};
    return new OverheadTable(std::move(data));
  }();
  return *table;
}

LinOp Op(std::string name, std::vector<LinKernel> kernels) {
  LinOp op{.name = std::move(name)};
  op.launches.assign(kernels.size(), "cudaLaunchKernel");
  op.kernels = std::move(kernels);
  return op;
}

LinResult Walk(const std::vector<LinOp>& ops, LinVariant variant) {
  return LinWalk(ops, LinOverheads(TableByPart()), variant);
}

TEST(LinWalkTest, In2022KernelsQueueBehindTheirLaunches) {
  // Host: T1 2, T2 10, T4 4, T5 3, T4 4, T3 5 = 28; then 2 + 1.
  // GPU: from 12 + 4 = 16 for 50 + 4 to 70; from max(70 + 1, 19 + 4) for 6 + 4.
  const LinResult result = Walk(
      {Op("aten::mm", {{50}, {6}}), Op("aten::view", {})}, LinVariant::k2022);
  EXPECT_THAT(result.clocks_us, ElementsAre(28, 31));
  EXPECT_EQ(result.gpu_us, 81);
  EXPECT_EQ(result.active_us, 64);
  EXPECT_EQ(result.step_us, 81);
}

TEST(LinWalkTest, In2022LaunchesWithoutAModelStillCost) {
  LinOp op = Op("aten::mm", {{50}, {6}});
  op.kernels.pop_back();
  // The second launch leaves no kernel: the GPU's clock only moves by the gap.
  const LinResult result = Walk({op}, LinVariant::k2022);
  EXPECT_THAT(result.clocks_us, ElementsAre(28));
  EXPECT_EQ(result.gpu_us, 71);
  EXPECT_EQ(result.active_us, 54);
}

TEST(LinWalkTest, KernelsOfOpsWithoutAModelTakeNoTime) {
  LinOp op = Op("some::op", {{50}, {6}});
  op.modelled = false;
  for (const LinVariant variant : {LinVariant::k2022, LinVariant::k2024}) {
    const LinResult result = Walk({op}, variant);
    EXPECT_THAT(result.clocks_us, ElementsAre(28));
    EXPECT_EQ(result.gpu_us, 0);
  }
}

TEST(LinWalkTest, In2022TheCallOfAnEmptyCopyIsShort) {
  LinOp op = Op("aten::to", {{50}});
  op.has_children = false;
  EXPECT_THAT(Walk({op}, LinVariant::k2022).clocks_us,
              ElementsAre(2 + 10 + 2 + 5));
}

TEST(LinWalkTest, In2024ACopyWaitsForTheGpu) {
  // GPU: from 16 for 50 + 5 to 71. The host, at 21, goes on then.
  const LinResult result = Walk({Op("aten::to", {{50}})}, LinVariant::k2024);
  EXPECT_THAT(result.clocks_us, ElementsAre(71));
}

TEST(LinWalkTest, In2024LaunchesWithoutAModelAreFree) {
  LinOp op = Op("aten::mm", {{50}, {6}});
  op.kernels.pop_back();
  EXPECT_THAT(Walk({op}, LinVariant::k2024).clocks_us,
              ElementsAre(2 + 10 + 4 + 5));
}

// compute  [16 ====== 121]            [ 122 = 137 ]
// comm.                   [122 ==== 227]
TEST(LinWalkTest, In2024CommunicationHasItsOwnStream) {
  const std::vector<LinOp> ops = {
      Op("aten::mm", {{100}}),
      Op("all_to_all", {{.us = 100, .communication = true}}),
      Op("aten::mm", {{10}})};
  const LinResult result = Walk(ops, LinVariant::k2024);
  EXPECT_EQ(result.gpu_us, 227);
  // Only what reaches beyond the collective would count on top of it.
  EXPECT_EQ(result.active_us, 105 + 105);
}

TEST(LinWalkTest, In2024WhatUsesACollectiveWaitsForIt) {
  std::vector<LinOp> ops = {
      Op("all_to_all", {{.us = 100, .communication = true}}),
      Op("aten::mm", {{10}})};
  ops[1].waits_for_collective = true;
  // Communication from 16 to 121; then a gap of 1 and 10 + 5.
  EXPECT_EQ(Walk(ops, LinVariant::k2024).gpu_us, 137);
}

TEST(LinWalkTest, In2024RanksMeetInCollectives) {
  const LinOp collective =
      Op("all_to_all", {{.us = 100, .communication = true}});
  const std::vector<std::vector<LinOp>> ranks = {
      {collective}, {Op("aten::mm", {{300}}), collective}};
  const std::vector<LinResult> results =
      LinWalkRanks(ranks, LinOverheads(TableByPart()), LinVariant::k2024);
  // Rank 1: kernel from 16 to 321, collective from 322 to 427.
  EXPECT_EQ(results[0].step_us, 427);
  EXPECT_EQ(results[1].step_us, 427);
  // Rank 0 waited inside its collective, which ran from 16.
  EXPECT_EQ(results[0].active_us, 427 - 16);
}

TEST(LinWalkTest, In2021TheOptimizerCountsTwice) {
  const LinResult result =
      Walk({Op("Optimizer.step#SGD.step", {{1}, {1}})}, LinVariant::k2021);
  // T1 2, twice T2 10 and T3 5, T5 3, no T4.
  EXPECT_THAT(result.clocks_us, ElementsAre(35));
}

TEST(LinOpsTest, ThreadsStandInOneLineByStart) {
  const ir::Graph graph = ir::GraphOf(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    annotation "forward" @0+20
      op "aten::mm" @1+10
        call launch "cudaLaunchKernel" @2+3
          s7: opaque "a" @8+5 #a
        call stream_sync "cudaStreamSynchronize" @6+3
    op "aten::to" @50+10
  thread autograd
    op "MmBackward0" @30+10
      op "aten::mm" @31+8
        call launch "cudaLaunchKernelExC" @32+3
          s20: collective kind=all_reduce bytes=8 group=2 "nccl" @38+5 #b
  wait #a -> #b
)");
  IdVector<ir::WorkId, Duration> times(2, std::chrono::microseconds(7));
  const std::vector<LinOp> ops =
      LinOpsOf(graph.data(), ir::RankId{0}, times, LinVariant::k2024);
  ASSERT_EQ(ops.size(), 3);
  EXPECT_EQ(ops[0].name, "aten::mm");
  EXPECT_THAT(ops[0].launches, ElementsAre("cudaLaunchKernel"));
  EXPECT_EQ(ops[0].kernels[0].us, 7);
  EXPECT_FALSE(ops[0].has_children);
  EXPECT_EQ(ops[1].name, "MmBackward0");
  EXPECT_TRUE(ops[1].has_children);
  EXPECT_TRUE(ops[1].kernels[0].communication);
  EXPECT_EQ(ops[2].name, "aten::to");
}

TEST(LinOpsTest, KnowsWhichOpsThePapersModel) {
  EXPECT_TRUE(IsModelled("aten::addmm", LinVariant::k2022));
  EXPECT_TRUE(IsModelled("autograd::engine::evaluate_function: AddmmBackward0",
                         LinVariant::k2022));
  EXPECT_TRUE(IsModelled("torch::autograd::AccumulateGrad", LinVariant::k2022));
  EXPECT_TRUE(IsModelled("Optimizer.step#SGD.step", LinVariant::k2022));
  EXPECT_FALSE(IsModelled("aten::gelu", LinVariant::k2022));
  EXPECT_TRUE(IsModelled("aten::gelu", LinVariant::k2024));
  EXPECT_TRUE(IsModelled("GeluBackward0", LinVariant::k2024));
  EXPECT_FALSE(IsModelled("aten::sort", LinVariant::k2024));
  EXPECT_FALSE(IsModelled("SortBackward0", LinVariant::k2024));
  EXPECT_TRUE(IsPassedOver("SliceBackward", LinVariant::k2022));
  EXPECT_FALSE(IsPassedOver("SliceBackward", LinVariant::k2021));
}

}  // namespace
}  // namespace stepcast::cost
