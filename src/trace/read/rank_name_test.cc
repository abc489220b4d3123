#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/read/load.h"

namespace stepcast::trace {
namespace {

using ::testing::Optional;

TEST(RankNameTest, FindsTheNumberAfterRankOrWorker) {
  EXPECT_THAT(RankFromName("run/rank3.json.gz"), Optional(3));
  EXPECT_THAT(RankFromName("rank-12.json"), Optional(12));
  EXPECT_THAT(RankFromName("trace_RANK_07.json"), Optional(7));
  EXPECT_THAT(RankFromName("worker3_step_12.1694128201545.pt.trace.json"),
              Optional(3));
  EXPECT_THAT(RankFromName("resnet50_ddp_rank1_1.0.2.json"), Optional(1));
}

TEST(RankNameTest, FindsALoneNumber) {
  EXPECT_THAT(RankFromName("dlrm.3.et"), Optional(3));
  EXPECT_THAT(RankFromName("dlrm_eg_3_plus.json"), Optional(3));
  EXPECT_THAT(RankFromName("run/5.json"), Optional(5));
}

TEST(RankNameTest, FindsAFolderPerRank) {
  EXPECT_THAT(RankFromName("run/rank4/trace.json"), Optional(4));
}

TEST(RankNameTest, TakesNoVersionForARank) {
  EXPECT_EQ(RankFromName("chakra_1.0.1.et.gz"), std::nullopt);
  EXPECT_EQ(RankFromName("resnet50_1.1.0.json"), std::nullopt);
  EXPECT_THAT(RankFromName("chakra_1.0.1_4.et"), Optional(4));
}

TEST(RankNameTest, TakesNoDatesOrProcessIdsForRanks) {
  EXPECT_EQ(RankFromName("trace.1694128201545.json"), std::nullopt);
  EXPECT_EQ(RankFromName("kineto.json"), std::nullopt);
  EXPECT_EQ(RankFromName("resnet50.json"), std::nullopt);
  EXPECT_EQ(RankFromName(""), std::nullopt);
  EXPECT_EQ(RankFromName("rank"), std::nullopt);
}

}  // namespace
}  // namespace stepcast::trace
