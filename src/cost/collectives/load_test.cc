#include "cost/collectives/load.h"

#include <vector>

#include <gtest/gtest.h>

namespace stepcast::cost {
namespace {

using ir::Collective;
using ir::CollectiveKind;

Collective Exchange(std::vector<int64_t> send) {
  return {.kind = CollectiveKind::kAllToAll,
          .dtype = ir::DType::kFp32,
          .send_splits = std::move(send)};
}

TEST(LoadOf, AnAllReducePassesAlmostTwiceTheBuffer) {
  const auto load =
      LoadOf(Collective{.kind = CollectiveKind::kAllReduce, .bytes = {1000}},
             {.ranks = 4});
  ASSERT_TRUE(load.has_value());
  EXPECT_DOUBLE_EQ(load->wire_bytes, 1500);  // 2 x 3/4 x 1000.
}

TEST(LoadOf, AnAllGatherReceivesWhatTheOthersPutIn) {
  const auto load =
      LoadOf(Collective{.kind = CollectiveKind::kAllGather, .bytes = {1000}},
             {.ranks = 4});
  ASSERT_TRUE(load.has_value());
  EXPECT_DOUBLE_EQ(load->wire_bytes, 3000);
}

// rank 0 sends  -  10  20    2 nodes would not divide 3 ranks: one node.
// rank 1 sends 30   -  40
// rank 2 sends 50  60   -
TEST(LoadOf, TheBusiestRankDecides) {
  const std::vector<Collective> parts = {Exchange({999, 10, 20}),
                                         Exchange({30, 999, 40}),
                                         Exchange({50, 60, 999})};
  const auto load = LoadOf(parts, 1);
  ASSERT_TRUE(load.has_value());
  // Sent 30, 70, 110; received 80, 70, 60: rank 2 sends the most.
  EXPECT_DOUBLE_EQ(load->wire_bytes, 110 * 4);
  EXPECT_DOUBLE_EQ(load->peer_bytes, 60 * 4);
  EXPECT_DOUBLE_EQ(load->remote_bytes, 0);
}

TEST(LoadOf, ARankThatOnlyReceivesMayDecide) {
  const std::vector<Collective> parts = {
      Exchange({0, 0, 0}), Exchange({70, 0, 0}), Exchange({80, 0, 0})};
  EXPECT_DOUBLE_EQ(LoadOf(parts, 1)->wire_bytes, 150 * 4);
}

// Ranks 0 and 1 are on one node, 2 and 3 on another.
TEST(LoadOf, OnlyWhatLeavesTheNodeIsRemote) {
  const std::vector<Collective> parts = {
      Exchange({0, 100, 3, 4}), Exchange({100, 0, 1, 1}),
      Exchange({1, 1, 0, 100}), Exchange({1, 1, 100, 0})};
  const auto load = LoadOf(parts, 2);
  ASSERT_TRUE(load.has_value());
  EXPECT_DOUBLE_EQ(load->remote_bytes, 7 * 4);
  EXPECT_DOUBLE_EQ(load->wire_bytes, 107 * 4);
}

TEST(LoadOf, HalfPrecisionIsHalfThePayload) {
  Collective part = Exchange({100, 100});
  const double full = LoadOf(part, {.ranks = 2})->wire_bytes;
  part.dtype = ir::DType::kBf16;
  EXPECT_DOUBLE_EQ(LoadOf(part, {.ranks = 2})->wire_bytes, full / 2);
}

TEST(LoadOf, UnknownSizesHaveNone) {
  EXPECT_FALSE(
      LoadOf(Collective{.kind = CollectiveKind::kAllReduce}, {.ranks = 4})
          .has_value());
  EXPECT_FALSE(LoadOf(Collective{}, {.ranks = 4}).has_value());
  EXPECT_TRUE(LoadOf(Collective{.kind = CollectiveKind::kBarrier}, {.ranks = 4})
                  .has_value());
}

}  // namespace
}  // namespace stepcast::cost
