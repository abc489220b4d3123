#include <gtest/gtest.h>

#include "ir/graph_builder.h"
#include "view/reports/doctor.h"

namespace stepcast::view {
namespace {

using std::chrono::microseconds;

ir::KernelShape AllToAll(Bytes bytes) {
  ir::Collective shape;
  shape.kind = ir::CollectiveKind::kAllToAll;
  shape.bytes = bytes;
  return shape;
}

// A rank whose step starts `offset` after the first one, with one collective
// that runs from `start` to `end` on the rank's own clock.
ir::ActivityId AddRank(ir::GraphBuilder& builder, int64_t number, int offset,
                       int start, int end) {
  const ir::RankId rank =
      builder.AddRank({.number = number,
                       .step = ir::Measured{.start = microseconds(offset),
                                            .duration = microseconds(100)}});
  const ir::StreamId stream = builder.AddStream({.rank = rank, .number = 84});
  return builder.AddActivity(
      {.kind = ir::ActivityKind::kCollective,
       .stream = stream,
       .measured = ir::Measured{.start = microseconds(start),
                                .duration = microseconds(end - start)}},
      AllToAll(Bytes{1024 * (number + 1)}));
}

// rank 0  [step  [======]            10..41
// rank 1    [step     [=]            20+15..20+20
TEST(CollectiveFactsTest, SkewAndOwnTimeAreOnTheCommonClock) {
  ir::GraphBuilder builder;
  const ir::ActivityId first = AddRank(builder, 0, 0, 10, 41);
  const ir::ActivityId second = AddRank(builder, 1, 20, 15, 20);
  builder.AddCollective(
      {.kind = ir::CollectiveKind::kAllToAll, .activities = {first, second}});
  const auto graph = std::move(builder).Build();
  ASSERT_TRUE(graph) << graph.error().message;

  const auto list = FindCollectiveFacts(*graph);

  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].start, microseconds(10));
  EXPECT_EQ(list[0].skew, microseconds(25));     // 10 to 35
  EXPECT_EQ(list[0].own, microseconds(6));       // 35 to 41
  EXPECT_EQ(list[0].end_skew, microseconds(1));  // 40 to 41
  EXPECT_EQ(list[0].last_rank, 1);
  EXPECT_EQ(list[0].bytes, Bytes{2048});
}

TEST(CollectiveFactsTest, ACollectiveWithoutTimesIsLeftOut) {
  ir::GraphBuilder builder;
  const ir::ActivityId first = AddRank(builder, 0, 0, 10, 41);
  const ir::RankId rank = builder.AddRank({.number = 1});
  const ir::StreamId stream = builder.AddStream({.rank = rank});
  const ir::ActivityId second = builder.AddActivity(
      {.kind = ir::ActivityKind::kCollective, .stream = stream},
      AllToAll(Bytes{}));
  builder.AddCollective(
      {.kind = ir::CollectiveKind::kAllToAll, .activities = {first, second}});
  const auto graph = std::move(builder).Build();
  ASSERT_TRUE(graph) << graph.error().message;

  EXPECT_TRUE(FindCollectiveFacts(*graph).empty());
}

}  // namespace
}  // namespace stepcast::view
