#include "view/reports/text_parts.h"

#include <chrono>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::view {
namespace {

engine::RankAccount RankOf(int64_t rank, int64_t alike) {
  engine::RankAccount account;
  account.rank = rank;
  account.alike = alike;
  return account;
}

TEST(AlikeTextTest, RanksThatAreAllReportedNeedNoNote) {
  EXPECT_EQ(AlikeText({}), "");
  EXPECT_EQ(AlikeText(std::vector{RankOf(0, 1), RankOf(1, 1)}), "");
}

TEST(AlikeTextTest, TheOneThatStandsForOthersIsNamed) {
  EXPECT_EQ(AlikeText(std::vector{RankOf(0, 1), RankOf(18, 46)}),
            "rank 18 stands for 46 alike");
  EXPECT_EQ(AlikeText(std::vector{RankOf(0, 8), RankOf(1, 1), RankOf(2, 56)}),
            "rank 0 stands for 8 alike, rank 2 for 56 alike");
}

TEST(AlikeTextTest, OneMayStandForAll) {
  EXPECT_EQ(AlikeText(std::vector{RankOf(0, 64)}),
            "rank 0 stands for all 64, which are alike");
}

TEST(AlikeTextTest, ALongListEndsWithACount) {
  std::vector<engine::RankAccount> accounts;
  for (int64_t rank = 0; rank < 11; ++rank) {
    accounts.push_back(RankOf(rank, 2));
  }
  // 8 are named.
  EXPECT_TRUE(
      AlikeText(accounts).ends_with("rank 7 for 2 alike, 3 more likewise"));
}

TEST(RankNameTest, CountsThoseItStandsFor) {
  EXPECT_EQ(RankName(RankOf(3, 1)), "rank 3");
  EXPECT_EQ(RankName(RankOf(18, 46)), "rank 18 × 46");
}

using std::chrono::microseconds;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

engine::RankAccount AccountOf(Duration step) {
  engine::RankAccount account;
  account.step = step;
  return account;
}

PathSummary WaitOf(PathWaits waits) {
  PathSummary path;
  path.length = microseconds(100);
  path.waits = waits;
  path.kinds[static_cast<size_t>(engine::PathKind::kWait)] =
      waits.step_start + waits.thread_start + waits.step_before;
  path.kinds[static_cast<size_t>(engine::PathKind::kKernel)] = microseconds(30);
  return path;
}

std::string VerdictOf(const PathSummary& path) {
  return Verdict(path, AccountOf(path.length));
}

TEST(VerdictTest, WorkOfTheStepBeforeIsNotALateRank) {
  PathSummary path = WaitOf({.step_before = microseconds(51)});
  path.hops = {{.rank = 2}, {.rank = 0}};
  EXPECT_THAT(VerdictOf(path),
              StartsWith("held up by work of the step before: 51.0 % of"));
}

TEST(VerdictTest, ARankThatOthersWaitForIsNamed) {
  PathSummary path = WaitOf({.step_start = microseconds(60)});
  path.hops = {{.rank = 7}, {.rank = 4}};
  EXPECT_THAT(VerdictOf(path),
              StartsWith("held up by rank 7, which starts late: 60.0 % of"));
}

TEST(VerdictTest, ASingleRankWaitsForNoOther) {
  PathSummary path = WaitOf({.step_start = microseconds(60)});
  path.hops = {{.rank = 1}};
  EXPECT_THAT(VerdictOf(path), StartsWith("held up before its step began"));
}

TEST(VerdictTest, ALateThreadIsNotALateRank) {
  EXPECT_THAT(VerdictOf(WaitOf({.thread_start = microseconds(60)})),
              StartsWith("held up by a thread that starts late"));
}

// 25 + 25 us of waits for two reasons are less than 30 us of kernels.
TEST(VerdictTest, WaitsForSeveralReasonsAreNotOne) {
  const std::string verdict = VerdictOf(WaitOf(
      {.step_start = microseconds(25), .step_before = microseconds(25)}));
  EXPECT_THAT(verdict, StartsWith("bound by kernels: 30.0 %"));
  EXPECT_THAT(verdict, Not(HasSubstr("late")));
}

}  // namespace
}  // namespace stepcast::view
