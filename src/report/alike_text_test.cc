#include "report/alike_text.h"

#include <vector>

#include <gtest/gtest.h>

namespace stepcast::report {
namespace {

engine::RankAccount RankOf(int64_t rank, int64_t alike) {
  engine::RankAccount account;
  account.rank = rank;
  account.alike = alike;
  return account;
}

TEST(AlikeTextTest, RanksThatAreAllToldNeedNoWord) {
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

}  // namespace
}  // namespace stepcast::report
