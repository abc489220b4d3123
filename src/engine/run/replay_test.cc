#include "engine/run/replay.h"

#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/run/replay_testing.h"
#include "ir/graph_testing.h"

namespace stepcast::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string ErrorOf(std::string_view text) {
  const auto replay =
      ReplayStep(std::make_shared<const ir::Graph>(ir::GraphOf(text)));
  EXPECT_FALSE(replay);
  return replay ? "" : replay.error().message;
}

// host   [a 5-35: call 10-14, call 20-24 ][sync 40------78]  80 | 100
// s7         [16-36          ][38-70                 ]
TEST(ReplayTest, AStepComesOutAsItWasMeasured) {
  const Replay replay = ReplayOf(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    op "a" @5+30
      call launch "launch" @10+4
        s7: gemm m=1 @16+20
      call launch "launch" @20+4
        s7: gemm m=2 @38+32 #w
    call stream_sync "sync" @40+38 #c
  wait #w -> #c
)");
  ASSERT_THAT(replay.ranks, SizeIs(1));
  const ReplayedRank& rank = replay.ranks[0];
  EXPECT_EQ(ToMicroseconds(rank.measured), 100);
  EXPECT_EQ(rank.simulated, rank.measured);
  EXPECT_EQ(rank.error(), 0);
  EXPECT_EQ(ToMicroseconds(rank.gpu_active_measured), 52);
  EXPECT_EQ(rank.gpu_active_simulated, rank.gpu_active_measured);
  EXPECT_THAT(replay.unexplained, IsEmpty());
  EXPECT_EQ(rank.unexplained, Duration{});
}

// Activity of the previous step, and work that outlives the step, count as far
// as they are within it: 0-10 and 95-100.
TEST(ReplayTest, TheDeviceIsActiveWithinTheStepOnly) {
  const Replay replay = ReplayOf(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    call launch "launch" @90+4
      s7: gemm m=2 @95+50
  s7: gemm m=1 @-20+30
)");
  EXPECT_EQ(ToMicroseconds(replay.ranks[0].gpu_active_measured), 15);
  EXPECT_EQ(ToMicroseconds(replay.ranks[0].gpu_active_simulated), 15);
}

// The third kernel starts 200 us after its call and nothing says why. The
// host waits for it: the 196 us that are named are missing in the replay, for
// the usual launch takes 4 us.
TEST(ReplayTest, ALateStartIsNamedAndMissing) {
  const Replay replay = ReplayOf(R"(stepcast-graph 1
rank 0 @0+400
  thread main
    call launch "launch" @10+2
      s7: gemm m=1 "first" @14+10
    call launch "launch" @30+2
      s7: gemm m=1 "second" @34+10
    call launch "launch" @100+2
      s7: gemm m=2 "void late<float>" @300+10 #w
    call stream_sync "sync" @110+210 #c
  wait #w -> #c
)");
  ASSERT_THAT(replay.unexplained, SizeIs(1));
  EXPECT_EQ(replay.unexplained[0].what, "late started late after its launch");
  EXPECT_EQ(replay.unexplained[0].rank, 0);
  EXPECT_EQ(ToMicroseconds(replay.unexplained[0].at), 300);
  EXPECT_EQ(ToMicroseconds(replay.unexplained[0].time), 196);
  EXPECT_EQ(ToMicroseconds(replay.ranks[0].unexplained), 196);
  // The kernel is done at 114, the sync has its entry until 112, then the tail
  // of 10: all after 124 is 196 us earlier.
  EXPECT_EQ(ToMicroseconds(replay.ranks[0].simulated), 204);
}

// The sync returns 150 us after all it is known to wait for.
TEST(ReplayTest, ALongTailIsNamedButKept) {
  const Replay replay = ReplayOf(R"(stepcast-graph 1
rank 0 @0+400
  thread main
    call launch "launch" @10+2
      s7: gemm m=1 @14+100 #w
    call stream_sync "sync" @20+244 #c
  wait #w -> #c
)");
  ASSERT_THAT(replay.unexplained, SizeIs(1));
  EXPECT_EQ(replay.unexplained[0].what,
            "sync returned late after what it waited for");
  EXPECT_EQ(ToMicroseconds(replay.unexplained[0].time), 150);
  EXPECT_EQ(replay.ranks[0].error(), 0);
}

// Rank 1 starts 30 us later; each is measured from its own start.
TEST(ReplayTest, RanksAreMeasuredFromTheirOwnStart) {
  const Replay replay = ReplayOf(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    call launch "launch" @10+2
      s7: collective kind=all_reduce @14+40 #a0
    call stream_sync "sync" @20+36 #c0
  wait #a0 -> #c0
rank 1 @30+60
  thread main
    call launch "launch" @10+2
      s7: collective kind=all_reduce @14+10 #a1
collective all_reduce #a0 #a1
)");
  ASSERT_THAT(replay.ranks, SizeIs(2));
  EXPECT_EQ(ToMicroseconds(replay.ranks[0].simulated), 100);
  EXPECT_EQ(ToMicroseconds(replay.ranks[1].simulated), 60);
  // The path ends with the rank that ends last: rank 0, at 100.
  EXPECT_EQ(ToMicroseconds(replay.result.critical_path.back().end), 100);
  EXPECT_EQ(replay.result.critical_path.front().begin, Duration{});
}

TEST(ReplayTest, AStepWithoutTimesIsRefused) {
  EXPECT_THAT(ErrorOf("stepcast-graph 1\nrank 3\n  thread main\n"),
              HasSubstr("rank 3 has no measured step"));
}

TEST(ReplayTest, ARankWithoutAHostIsRefused) {
  EXPECT_THAT(ErrorOf("stepcast-graph 1\nrank 2 @0+50\n  s7: gemm m=1 @5+1\n"),
              HasSubstr("rank 2 has no op and no call in the step"));
}

TEST(ReplayTest, CollectivesThatNeverCompleteAreAnError) {
  const std::string message = ErrorOf(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    call launch "launch" @10+2
      s7: collective kind=all_reduce "reduce" @14+10 #a0
    call launch "launch" @20+2
      s7: collective kind=all_to_all "exchange" @24+10 #b0
rank 1 @0+100
  thread main
    call launch "launch" @10+2
      s7: collective kind=all_to_all "exchange" @14+10 #b1
    call launch "launch" @20+2
      s7: collective kind=all_reduce "reduce" @24+10 #a1
collective all_reduce #a0 #a1
collective all_to_all #b0 #b1
)");
  EXPECT_THAT(message, HasSubstr("rank 0's"));
  EXPECT_THAT(message, HasSubstr("rank 1's"));
}

}  // namespace
}  // namespace stepcast::engine
