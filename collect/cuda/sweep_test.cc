#include "collect/cuda/sweep.h"

#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collect/cuda/work.h"

namespace stepcast::collect {
namespace {

using ::testing::UnorderedElementsAre;

const std::vector<std::string> kTypes = {"fp32", "tf32", "fp16", "bf16"};

std::vector<std::string> Ids(const std::vector<Point>& sweep) {
  std::vector<std::string> ids;
  for (const Point& point : sweep) {
    ids.push_back(PointId(point));
  }
  return ids;
}

TEST(SweepTest, TheSameSeedMakesTheSameSweepAndAnotherAnother) {
  EXPECT_EQ(Ids(MakeSweep(1, {}, kTypes)), Ids(MakeSweep(1, {}, kTypes)));
  EXPECT_NE(Ids(MakeSweep(1, {}, kTypes)), Ids(MakeSweep(2, {}, kTypes)));
}

TEST(SweepTest, NoPointComesTwice) {
  const auto ids = Ids(MakeSweep(1, {}, kTypes));
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size());
  EXPECT_GT(ids.size(), 10000);
}

TEST(SweepTest, AShortPrefixHasEveryKindTypeAndLayout) {
  std::vector<Point> sweep = MakeSweep(1, {}, kTypes);
  sweep.resize(200);
  std::set<Kind> kinds;
  std::set<std::string> types;
  std::set<std::string> layouts;
  for (const Point& point : sweep) {
    kinds.insert(point.kind);
    if (point.kind == Kind::kGemm) {
      types.insert(point.dtype);
      layouts.insert(point.op);
    }
  }
  EXPECT_EQ(kinds.size(), 6);
  EXPECT_THAT(types, UnorderedElementsAre("fp32", "tf32", "fp16", "bf16"));
  EXPECT_THAT(layouts, UnorderedElementsAre("tn", "nn", "nt"));
}

TEST(SweepTest, OnlyLeavesTheOthersOutWithoutMovingItsOwn) {
  const auto alone = Ids(MakeSweep(1, {"bandwidth"}, kTypes));
  std::vector<std::string> among;
  for (const Point& point : MakeSweep(1, {}, kTypes)) {
    if (point.kind == Kind::kBandwidth) {
      among.push_back(PointId(point));
    }
  }
  EXPECT_EQ(alone, among);
}

TEST(SweepTest, TheBandwidthCurveHasNearlyAllOfItsSizes) {
  std::set<int64_t> sizes;
  for (const Point& point : MakeSweep(1, {"bandwidth"}, kTypes)) {
    sizes.insert(point.bytes);
    // A copy has two halves of whole float4.
    EXPECT_EQ(point.bytes % 32, 0);
  }
  // 16 powers of two, and one and a half times each.
  EXPECT_GE(sizes.size(), 30);
  EXPECT_LE(sizes.size(), 32);
}

TEST(SweepTest, TypesAreThoseOfTheDevice) {
  for (const Point& point : MakeSweep(1, {"gemm", "bmm"}, {"fp32"})) {
    EXPECT_EQ(point.dtype, "fp32");
  }
}

TEST(SweepTest, EveryStreamIsAMultipleOfFourNumbers) {
  for (const Point& point : MakeSweep(1, {"stream", "embedding"}, kTypes)) {
    EXPECT_EQ(point.dim % 4, 0) << PointId(point);
  }
}

TEST(CollectiveSweepTest, CountsOfRanksDoubleUpToAllGpus) {
  std::map<std::string, std::set<int64_t>> ranks;
  for (const Point& point : MakeCollectiveSweep(1, {}, 6)) {
    ranks[point.op].insert(point.ranks);
    EXPECT_EQ(point.bytes % (4 * point.ranks), 0) << PointId(point);
  }
  EXPECT_EQ(ranks.size(), CollectiveNames().size());
  EXPECT_THAT(ranks["all_reduce"], UnorderedElementsAre(2, 4, 6));
  EXPECT_THAT(ranks["send_recv"], UnorderedElementsAre(2));
}

TEST(CollectiveSweepTest, OneGpuHasNone) {
  EXPECT_TRUE(MakeCollectiveSweep(1, {}, 1).empty());
}

}  // namespace
}  // namespace stepcast::collect
