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

engine::StepLimits LimitsOf(engine::LimitKind bound) {
  return {
      .bound = bound,
      .limits = {{.kind = engine::LimitKind::kCollectives,
                  .slack = microseconds(20)},
                 {.kind = engine::LimitKind::kRanks, .slack = microseconds(5)}},
      .rank = 3,
      .host_slack = microseconds(40),
      .device_slack = microseconds(30)};
}

std::string VerdictOf(const engine::StepLimits& limits) {
  engine::RankAccount account;
  account.step = microseconds(100);
  account.gpu_active = microseconds(60);
  return Verdict(limits, account);
}

TEST(VerdictTest, WhatLimitsTheStepComesFirstThenTheLargestOfTheOthers) {
  EXPECT_EQ(VerdictOf(LimitsOf(engine::LimitKind::kHost)),
            "host-bound: 40.0 % shorter if the host took no time, 30.0 % if "
            "the GPU took no time; the GPU is active 60.0 % of the step");
  EXPECT_THAT(VerdictOf(LimitsOf(engine::LimitKind::kCollectives)),
              StartsWith("communication-bound: 20.0 % shorter if collectives "
                         "took no time, 40.0 % if the host took no time"));
}

TEST(VerdictTest, ARankThatOthersWaitForIsNamedWithTheReason) {
  engine::StepLimits limits = LimitsOf(engine::LimitKind::kRanks);
  EXPECT_THAT(VerdictOf(limits), StartsWith("held up by rank 3: 5.0 %"));
  limits.why = "it sleeps";
  EXPECT_THAT(VerdictOf(limits), StartsWith("held up by rank 3 (it sleeps): "));
}

}  // namespace
}  // namespace stepcast::view
