#include "engine/explain/account.h"

#include <string_view>

#include <gtest/gtest.h>

#include "engine/explain/account_testing.h"
#include "engine/run/replay_testing.h"

namespace stepcast::engine {
namespace {

size_t FamilyOf(const ir::KernelShape& shape) {
  return shape.index();
}

double Us(Duration time) {
  return ToMicroseconds(time);
}

// host   [call 10-12][call 20-22]                        [call 75-77]     | 100
// s7            [gemm 14-34     ][elementwise 35-45]         [copy 79-84]
// s9                         [copy 26-50             ]
//        0    10 14            34 35           45   50    75  79   84    100
//        host |la|gemm          |c|elementwise  |c  | host|la |copy| host |
TEST(AccountTest, EveryInstantGoesToTheFirstThatCountsForIt) {
  const Replay replay = ReplayOf(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    call launch "launch" @10+2
      s7: gemm m=1 @14+20
    call launch "launch" @20+2
      s9: copy kind=host_to_device @26+24
    call launch "launch" @23+2
      s7: elementwise elements=1 @35+10
    call launch "launch" @75+2
      s7: copy kind=device_to_host @79+5
)");
  const RankAccount& account = replay.result.accounts.at(0);
  EXPECT_EQ(Us(account.kernels[FamilyOf(ir::Gemm{})]), 20);
  EXPECT_EQ(Us(account.kernels[FamilyOf(ir::Elementwise{})]), 10);
  // Between the kernels, after them, and alone: 1 + 5 + 5.
  EXPECT_EQ(Us(account.copies_exposed), 11);
  // 0-10, 50-75 and 84-100 the host had launched nothing more.
  EXPECT_EQ(Us(account.idle.host), 51);
  EXPECT_EQ(Us(account.idle.launch), 8);  // 10-14 and 75-79.
  EXPECT_EQ(account.idle.sync, Duration{});
  EXPECT_EQ(account.idle.wait_for_rank, Duration{});
  EXPECT_EQ(Us(account.step), 100);
  EXPECT_EQ(SumOf(account), account.step);
  EXPECT_EQ(Us(account.gpu_active), 41);
  EXPECT_EQ(Us(account.kernel_time), 59);  // 20 + 24 + 10 + 5, all activities.
}

// The host waits for the first activity, comes back 8 us after it, and launches
// the second 4 us later, which takes 3 us to start:
// host   [call 10-12][sync 15---------42][  ][call 46-48]
// s7            [gemm 14-34      ]                [gemm 49-59]
//                                |sync 8 |host 4|l 3|
TEST(AccountTest, IdleTimeAfterASyncIsItsReturnThenTheHostThenTheLaunch) {
  const Replay replay = ReplayOf(R"(stepcast-graph 1
rank 0 @0+59
  thread main
    call launch "launch" @10+2
      s7: gemm m=1 @14+20 #w
    call stream_sync "sync" @15+27 #c
    call launch "launch" @46+2
      s7: gemm m=1 @49+10
  wait #w -> #c
)");
  const RankAccount& account = replay.result.accounts.at(0);
  EXPECT_EQ(Us(account.idle.sync), 8);
  EXPECT_EQ(Us(account.idle.host), 14);   // 0-10 and 42-46.
  EXPECT_EQ(Us(account.idle.launch), 7);  // 10-14 and 46-49.
  EXPECT_EQ(SumOf(account), account.step);
}

// rank 0  s7  [all_reduce 14: waits until 44, runs until 54]
//         s9        [gemm 20-30]
// rank 1  s7                            [all_reduce 44-54]
TEST(AccountTest, ACollectiveThatWaitsIsIdleUnlessAKernelRuns) {
  const Replay replay = ReplayOf(R"(stepcast-graph 1
rank 0 @0+60
  thread main
    call launch "launch" @10+2
      s7: collective kind=all_reduce @14+40 #a0
    call launch "launch" @16+2
      s9: gemm m=1 @20+10
rank 1 @0+60
  thread main
    call launch "launch" @40+2
      s7: collective kind=all_reduce @44+10 #a1
collective all_reduce #a0 #a1
)");
  const RankAccount& early = replay.result.accounts.at(0);
  EXPECT_EQ(Us(early.idle.wait_for_rank), 20);  // 14-20 and 30-44.
  EXPECT_EQ(Us(early.communication_exposed), 10);
  EXPECT_EQ(Us(early.kernels[FamilyOf(ir::Gemm{})]), 10);
  EXPECT_EQ(Us(early.collective_wait), 30);
  EXPECT_EQ(Us(early.gpu_active), 20);  // Waiting is not.
  EXPECT_EQ(SumOf(early), early.step);
  const RankAccount& late = replay.result.accounts.at(1);
  EXPECT_EQ(late.idle.wait_for_rank, Duration{});
  EXPECT_EQ(Us(late.communication_exposed), 10);
  EXPECT_EQ(SumOf(late), late.step);
}

// Kinds of host time over both threads; the host is busy when any thread is.
// main      |t1 5|a: t2 5|t4 4|t3 6|t1 80 ...
// other                        [load 15-30]
TEST(AccountTest, HostTimeIsSummedByItsKind) {
  const Replay replay = ReplayOf(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    op "a" @5+15
      call launch "launch" @10+4
        s7: gemm m=1 @16+20
  thread other
    op "load" @15+15
)");
  const RankAccount& account = replay.result.accounts.at(0);
  const auto of = [&](cost::HostKind kind) {
    return Us(account.overheads[static_cast<size_t>(kind)]);
  };
  EXPECT_EQ(of(cost::HostKind::kBetweenOps), 85);
  EXPECT_EQ(of(cost::HostKind::kBeforeLaunch), 5);
  EXPECT_EQ(of(cost::HostKind::kCall), 4);
  EXPECT_EQ(of(cost::HostKind::kAfterLaunch), 6);
  EXPECT_EQ(of(cost::HostKind::kNoLaunch), 15);
  EXPECT_EQ(Us(account.host_busy), 100);
}

TEST(AccountTest, AStepWithoutWorkIsAllTheHosts) {
  const Replay replay = ReplayOf(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    op "a" @5+15
)");
  EXPECT_EQ(Us(replay.result.accounts.at(0).idle.host), 100);
}

}  // namespace
}  // namespace stepcast::engine
