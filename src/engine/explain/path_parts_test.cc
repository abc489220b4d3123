#include "engine/explain/path_parts.h"

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/run/replay_testing.h"

namespace stepcast::engine {
namespace {

using ::testing::ElementsAre;

// "10-14 rank 0 launch: launching gemm", without what takes no time.
std::vector<std::string> PathOf(std::string_view text) {
  const Replay replay = ReplayOf(text);
  const ir::Graph& graph = *replay.result.graph;
  std::vector<std::string> lines;
  for (const PathPart& part : DescribePath(replay.result)) {
    if (part.begin < part.end) {
      lines.push_back(fmt::format(
          "{}-{} rank {} {}: {}", ToMicroseconds(part.begin),
          ToMicroseconds(part.end), graph.data().ranks[part.rank].number,
          Name(part.subject.kind), Text(graph, part.subject)));
    }
  }
  return lines;
}

// host   |5|a 5-9: call 7|      [sync 9 --------------------46]| 50
// s7              ~3~[k 10-20]_2_[copy 22-30]_1_[k 31-41]
TEST(PathPartsTest, APathOverTheDeviceShowsLaunchGapsActivitiesAndTheReturn) {
  EXPECT_THAT(PathOf(R"(stepcast-graph 1
rank 0 @0+50
  thread main
    op "a" @5+4
      call graph_launch "cudaGraphLaunch" @7+2
        s7: gemm m=1 "void space::k<int>" @10+10
        s7: copy kind=host_to_device "Memcpy HtoD" @22+8
        s7: gemm m=1 "void space::k<int>" @31+10 #w
    call stream_sync "sync" @9+37 #c
  wait #w -> #c
)"),
              ElementsAre("0-5 rank 0 host: before a", "5-7 rank 0 host: in a",
                          "7-10 rank 0 launch: launching k",
                          "10-20 rank 0 kernel: in k",
                          "20-22 rank 0 launch: between activities",
                          "22-30 rank 0 copy: in Memcpy HtoD",
                          "30-31 rank 0 launch: between activities",
                          "31-41 rank 0 kernel: in k",
                          "41-46 rank 0 sync: returning from sync",
                          "46-50 rank 0 host: between ops"));
}

// main      [fwd 0-10][10-20]                 [70-80][opt 80-90]| 100
// autograd                  [bwd 20-70       ]
TEST(PathPartsTest, APathOverThreadsShowsTheHandoff) {
  EXPECT_THAT(PathOf(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    op "fwd" @0+10
    op "opt" @80+10
  thread autograd
    op "autograd::engine::evaluate_function: MmBackward0" @20+50
)"),
              ElementsAre("0-10 rank 0 host: in fwd",
                          "10-20 rank 0 host: between threads",
                          "20-70 rank 0 host: in MmBackward0",
                          "70-80 rank 0 host: between threads",
                          "80-90 rank 0 host: in opt",
                          "90-100 rank 0 host: between ops"));
}

// rank 0   [call 0]s7 ~4~[4: waits until 44][44-54]  [sync 54, 60]
// rank 1 @30   [a 30-40][call 40]~4~        [44-54]| 50 on the shared clock
TEST(PathPartsTest, APathOverRanksShowsWhoWasWaitedFor) {
  EXPECT_THAT(PathOf(R"(stepcast-graph 1
rank 0 @0+60
  thread main
    call launch "launch" @0+2
      s7: collective kind=all_reduce "reduce" @4+50 #a0
    call stream_sync "sync" @2+58 #c
  wait #a0 -> #c
rank 1 @30+20
  thread main
    op "a" @0+10
    call launch "launch" @10+2
      s7: collective kind=all_reduce "reduce" @14+10 #a1
collective all_reduce #a0 #a1
)"),
              ElementsAre("0-30 rank 1 wait: before its step began",
                          "30-40 rank 1 host: in a",
                          "40-44 rank 1 launch: launching reduce",
                          "44-54 rank 0 collective: in reduce",
                          "54-60 rank 0 sync: returning from sync"));
}

// s7   [old work 0-40][work 42-50]     the host waits
TEST(PathPartsTest, WorkOfTheStepBeforeIsReportedAsSuch) {
  EXPECT_THAT(PathOf(R"(stepcast-graph 1
rank 0 @0+60
  thread main
    call launch "launch" @0+2
      s7: gemm m=1 "new" @42+8 #w
    call stream_sync "sync" @2+50 #c
  s7: gemm m=1 "old" @10+30
  wait #w -> #c
)"),
              ElementsAre("0-10 rank 0 wait: after the previous step",
                          "10-40 rank 0 kernel: in old",
                          "40-42 rank 0 launch: between activities",
                          "42-50 rank 0 kernel: in new",
                          "50-52 rank 0 sync: returning from sync",
                          "52-60 rank 0 host: between ops"));
}

TEST(ShortNameTest, TasksOfTheAutogradEngineAreCalledByTheirFunction) {
  EXPECT_EQ(ShortOpName("autograd::engine::evaluate_function: AddmmBackward0"),
            "AddmmBackward0");
  EXPECT_EQ(ShortOpName("autograd::engine::evaluate_function: "
                        "torch::autograd::AccumulateGrad"),
            "AccumulateGrad");
  EXPECT_EQ(ShortOpName("aten::addmm"), "aten::addmm");
  EXPECT_EQ(ShortOpName("torch::autograd::"), "torch::autograd::");
  EXPECT_EQ(ShortOpName(""), "");
}

TEST(ShortNameTest, KernelsLoseTheirSpacesAndArguments) {
  EXPECT_EQ(
      ShortActivityName("void at::native::(anonymous namespace)::"
                        "CatArrayBatchedCopy<float, unsigned int, 2>(float*)"),
      "CatArrayBatchedCopy");
  EXPECT_EQ(ShortActivityName("volta_sgemm_128x64_tn"),
            "volta_sgemm_128x64_tn");
  EXPECT_EQ(
      ShortActivityName("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWork)"),
      "ncclKernel_AllReduce_RING_LL_Sum_float");
  EXPECT_EQ(ShortActivityName("Memcpy HtoD (Pageable -> Device)"),
            "Memcpy HtoD (Pageable -> Device)");
}

TEST(ShortNameTest, WhatIsNotAFunctionStaysAsItIs) {
  EXPECT_EQ(ShortActivityName("<unknown>"), "<unknown>");
  EXPECT_EQ(ShortActivityName("a::<lambda>"), "a::<lambda>");
  EXPECT_EQ(ShortActivityName("void "), "void ");
  EXPECT_EQ(ShortActivityName(""), "");
}

}  // namespace
}  // namespace stepcast::engine
