#include "engine/explain/traffic.h"

#include <gtest/gtest.h>

#include "engine/run/replay_testing.h"

namespace stepcast::engine {
namespace {

//   rank 0  [a2a waits 50 |10]     [all-reduce 100]
//                              [kernel 50]
//   rank 1             [a2a 10]    [all-reduce 100]
// Rank 0 sends 1,000 floats to itself and 3,000 to rank 1, which sends 2,000
// to each.
constexpr std::string_view kTwoRanks = R"(stepcast-graph 1
rank 0 "GPU" @0+400
  thread main
    op "all_to_all" @10+20
      call launch "cudaLaunchKernel" @12+5
        s20: collective kind=all_to_all bytes=16000 group=2 dtype=fp32 send=1000,3000 receive=1000,2000 "nccl" @40+60 #a0
    op "kernel" @110+20
      call launch "cudaLaunchKernel" @112+5
        s7: elementwise "add" @150+100
    op "all_reduce" @140+20
      call launch "cudaLaunchKernel" @142+5
        s20: collective kind=all_reduce bytes=1000000 group=2 "nccl" @200+100 #r0
rank 1 "GPU" @0+400
  thread main
    op "all_to_all" @60+20
      call launch "cudaLaunchKernel" @62+5
        s20: collective kind=all_to_all bytes=16000 group=2 dtype=fp32 send=2000,2000 receive=3000,2000 "nccl" @90+10 #a1
    op "all_reduce" @140+20
      call launch "cudaLaunchKernel" @142+5
        s20: collective kind=all_reduce bytes=1000000 group=2 "nccl" @200+100 #r1
collective all_to_all #a0 #a1
collective all_reduce #r0 #r1
)";

TEST(TrafficTest, CollectivesAreCountedAsNcclTestsDoes) {
  const Replay replay = ReplayOf(kTwoRanks);

  const Traffic traffic = MeasureTraffic(replay.result);

  ASSERT_EQ(traffic.collectives.size(), 2U);
  const CollectiveRate& exchange = traffic.collectives[0];
  // The most that a rank sends or receives is 5,000 floats, to rank 1.
  EXPECT_DOUBLE_EQ(exchange.bytes, 20'000);
  EXPECT_EQ(exchange.own, std::chrono::microseconds(10));
  EXPECT_DOUBLE_EQ(exchange.algorithm_gbs(), 2);
  EXPECT_DOUBLE_EQ(exchange.bus_gbs(), 1);  // Half stays where it is.
  EXPECT_FALSE(exchange.waits);
  const CollectiveRate& sum = traffic.collectives[1];
  EXPECT_DOUBLE_EQ(sum.algorithm_gbs(), 10);  // 1 MB in 100 us.
  EXPECT_DOUBLE_EQ(sum.bus_gbs(), 10);        // x 2 (2 - 1) / 2.
  ASSERT_EQ(traffic.sizes.size(), 2U);
}

TEST(TrafficTest, OverlapLeavesWaitingOut) {
  const Replay replay = ReplayOf(kTwoRanks);

  const Traffic traffic = MeasureTraffic(replay.result);

  ASSERT_EQ(traffic.ranks.size(), 2U);
  // 10 us of the exchange, 100 of the sum; the kernel runs during 50 of those.
  EXPECT_EQ(traffic.ranks[0].collectives, std::chrono::microseconds(110));
  EXPECT_EQ(traffic.ranks[0].hidden, std::chrono::microseconds(50));
  EXPECT_EQ(traffic.ranks[1].hidden, Duration{});
  // Rank 1 came 50 us late to the exchange. To the sum both came at once, for
  // which the lower number counts.
  EXPECT_EQ(traffic.ranks[1].matched, 2);
  EXPECT_EQ(traffic.ranks[1].last, 1);
  EXPECT_EQ(traffic.ranks[1].made_wait, std::chrono::microseconds(50));
  EXPECT_EQ(traffic.ranks[0].made_wait, Duration{});
}

TEST(TrafficTest, WhatRanksSendToEachOtherIsInTheirSplits) {
  const Replay replay = ReplayOf(kTwoRanks);

  const AllToAllBytes all = MeasureTraffic(replay.result).all_to_all;

  EXPECT_EQ(all.ranks, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(all.peers, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(all.sent,
            (std::vector<std::vector<double>>{{4000, 12000}, {8000, 8000}}));
  EXPECT_EQ(all.sum, (std::vector<double>{16000, 16000}));
  EXPECT_EQ(all.even, 0);
}

TEST(TrafficTest, ACollectiveOfOneRecordedRankHasWaitingInIt) {
  const Replay replay = ReplayOf(R"(stepcast-graph 1
rank 1 "GPU" @0+400
  thread main
    op "all_to_all" @10+20
      call launch "cudaLaunchKernel" @12+5
        s20: collective kind=all_gather bytes=1000 group=4 "nccl" @40+60
)");

  const Traffic traffic = MeasureTraffic(replay.result);

  ASSERT_EQ(traffic.collectives.size(), 1U);
  EXPECT_TRUE(traffic.collectives[0].waits);
  EXPECT_EQ(traffic.collectives[0].ranks, 4);
  EXPECT_DOUBLE_EQ(traffic.collectives[0].bytes, 4000);  // Of all four.
  EXPECT_EQ(traffic.ranks[0].matched, 0);
}

//   launched at  12 32           run 40..140, 140..240   of 400 us
//   waiting:  12..32 one, 32..40 two, 40..140 one
TEST(TrafficTest, AQueueIsWhatIsLaunchedAndNotStarted) {
  const Replay replay = ReplayOf(R"(stepcast-graph 1
rank 0 "GPU" @0+400
  thread main
    op "a" @10+10
      call launch "cudaLaunchKernel" @12+5
        s7: elementwise "add" @40+100
    op "b" @30+10
      call launch "cudaLaunchKernel" @32+5
        s7: elementwise "add" @140+100
)");

  const Traffic traffic = MeasureTraffic(replay.result);

  ASSERT_EQ(traffic.queues.size(), 1U);
  const StreamQueue& queue = traffic.queues[0];
  EXPECT_EQ(queue.launched, 2);
  EXPECT_EQ(queue.most_waiting, 2);
  EXPECT_NEAR(queue.mean_waiting, (20 + 2 * 8 + 100) / 400.0, 1e-9);
  EXPECT_NEAR(queue.none_waiting, (12 + 260) / 400.0, 1e-9);
  EXPECT_NEAR(queue.empty, (12 + 160) / 400.0, 1e-9);
  // A slice is 2 us: the 18th is 34..36.
  EXPECT_EQ(queue.waiting[17], 2);
  EXPECT_EQ(queue.waiting[100], 0);
}

}  // namespace
}  // namespace stepcast::engine
