#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/run/replay.h"
#include "engine/run/replay_testing.h"

namespace stepcast::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::vector<CollectiveBlame> BlameOf(std::string_view text) {
  return ReplayOf(text).collectives;
}

// rank 0   [a 0-10][call 10]  [14-64: waits 30          ][own 20]
// rank 1   [a 0-40            ][call 40]                 [44-64 ]
constexpr std::string_view kSlowOp = R"(stepcast-graph 1
rank 0 @0+100
  thread main
    op "a" @0+10
    call launch "launch" @10+2
      s7: collective kind=all_reduce @14+50 #a0
rank 1 @0+100
  thread main
    op "a" @0+40
    call launch "launch" @40+2
      s7: collective kind=all_reduce @44+20 #a1
collective all_reduce #a0 #a1
)";

TEST(BlameTest, ACollectiveIsSplitIntoSkewWaitsAndItsOwnTime) {
  const std::vector<CollectiveBlame> blames = BlameOf(kSlowOp);
  ASSERT_THAT(blames, SizeIs(1));
  EXPECT_EQ(blames[0].kind, ir::CollectiveKind::kAllReduce);
  EXPECT_EQ(ToMicroseconds(blames[0].start), 14);
  EXPECT_EQ(ToMicroseconds(blames[0].start_skew), 30);
  EXPECT_EQ(ToMicroseconds(blames[0].own), 20);
  EXPECT_EQ(blames[0].last_rank, 1);
  EXPECT_THAT(blames[0].ranks, ElementsAre(0, 1));
  EXPECT_THAT(blames[0].waits,
              ElementsAre(std::chrono::microseconds(30), Duration{}));
}

TEST(BlameTest, TheOpThatTookLongerIsNamed) {
  EXPECT_EQ(BlameOf(kSlowOp).at(0).blame, "rank 1 against rank 0: +30 us in a");
}

// Both do the same, but rank 1 begins 50 us later.
TEST(BlameTest, ALateStartOfTheStepIsNamed) {
  const std::vector<CollectiveBlame> blames = BlameOf(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    op "a" @0+10
    call launch "launch" @10+2
      s7: collective kind=all_reduce @14+70 #a0
rank 1 @50+100
  thread main
    op "a" @0+10
    call launch "launch" @10+2
      s7: collective kind=all_reduce @14+20 #a1
collective all_reduce #a0 #a1
)");
  EXPECT_EQ(blames.at(0).blame,
            "rank 1 against rank 0: +50 us before its step began");
}

// Rank 0's collective stands after a kernel, on its device; rank 1's host
// comes to it 60 us later, out of an op that rank 0 had done with long before.
// The ways are too different to compare. rank 0   [call 0][call 2]   s7 [gemm
// 4-104         ][104-184] rank 1   [call 0]  [slow 10-160 ][call 160]
// [164-184]
TEST(BlameTest, RanksThatWaitedForDifferentThingsAreNotCompared) {
  const std::vector<CollectiveBlame> blames = BlameOf(R"(stepcast-graph 1
rank 0 @0+200
  thread main
    call launch "launch" @0+2
      s7: gemm m=1 @4+100
    call launch "launch" @2+2
      s7: collective kind=all_reduce @104+80 #a0
rank 1 @0+200
  thread main
    call launch "launch" @0+2
      s7: gemm m=1 @4+5
    op "slow" @10+150
    call launch "launch" @160+2
      s7: collective kind=all_reduce @164+20 #a1
collective all_reduce #a0 #a1
)");
  EXPECT_EQ(blames.at(0).blame, "rank 1 while rank 0 waited: 56 us in slow");
}

// Rank 1 comes late to the second collective because rank 2 made it wait in
// the first, where rank 0 has no part.
TEST(BlameTest, TheChainLeadsToTheRankThatCausedIt) {
  const std::vector<CollectiveBlame> blames = BlameOf(R"(stepcast-graph 1
rank 0 @0+200
  thread main
    call launch "launch" @0+2
      s7: gemm m=1 @4+30
    call launch "launch" @2+2
      s7: collective kind=all_reduce @34+100 #b0
rank 1 @0+200
  thread main
    call launch "launch" @0+2
      s7: collective kind=all_to_all @4+110 #a1
    call launch "launch" @2+2
      s7: collective kind=all_reduce @114+20 #b1
rank 2 @0+200
  thread main
    op "slow" @0+100
    call launch "launch" @100+2
      s7: collective kind=all_to_all @104+10 #a2
collective all_to_all #a1 #a2
collective all_reduce #b0 #b1
)");
  ASSERT_THAT(blames, SizeIs(2));
  EXPECT_EQ(blames[1].last_rank, 1);
  EXPECT_THAT(blames[1].blame, HasSubstr("in slow of rank 2"));
}

TEST(BlameTest, SmallSkewsNeedNoWords) {
  const std::vector<CollectiveBlame> blames = BlameOf(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    call launch "launch" @10+2
      s7: collective kind=all_reduce @14+20 #a0
rank 1 @0+100
  thread main
    call launch "launch" @15+2
      s7: collective kind=all_reduce @19+15 #a1
collective all_reduce #a0 #a1
)");
  EXPECT_EQ(ToMicroseconds(blames.at(0).start_skew), 5);
  EXPECT_EQ(blames.at(0).blame, "");
}

// If two ranks are last at the same time, the lower one is reported.
TEST(BlameTest, TiesGoToTheFirstRank) {
  const std::vector<CollectiveBlame> blames = BlameOf(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    call launch "launch" @10+2
      s7: collective kind=all_reduce @14+40 #a0
rank 1 @0+100
  thread main
    call launch "launch" @40+2
      s7: collective kind=all_reduce @44+10 #a1
rank 2 @0+100
  thread main
    call launch "launch" @40+2
      s7: collective kind=all_reduce @44+10 #a2
collective all_reduce #a0 #a1 #a2
)");
  EXPECT_EQ(blames.at(0).last_rank, 1);
}

}  // namespace
}  // namespace stepcast::engine
