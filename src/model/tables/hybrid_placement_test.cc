#include "model/tables/hybrid_placement.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "model/memory.h"
#include "model/tables/table_assignment.h"

namespace stepcast::model {
namespace {

constexpr double kFp32 = 4;

// A table of 16 columns with that many rows and ids per sample.
TableGroup Table(int64_t rows, double pooling) {
  return {.count = 1, .rows = rows, .dim = 16, .pooling = pooling};
}

Model Of(std::vector<TableGroup> tables) {
  Model model;
  model.tables = std::move(tables);
  return model;
}

double BytesOf(int64_t rows) {
  return static_cast<double>(rows) * 16 * kFp32;
}

TEST(HybridPlacementTest, AllThatFitsIsNear) {
  Model model = Of({Table(100, 1), Table(200, 1)});
  const HybridTables placed =
      PlaceHybrid(BytesOf(300), Placement::kHost, {}, model);
  EXPECT_EQ(placed.near, 2);
  EXPECT_EQ(placed.far_bytes, 0);
  EXPECT_EQ(placed.near_bytes, BytesOf(300));
}

TEST(HybridPlacementTest, WithoutRoomAllIsFar) {
  Model model = Of({Table(100, 1), Table(200, 1)});
  EXPECT_EQ(PlaceHybrid(0, Placement::kRemote, {}, model).near, 0);
  EXPECT_EQ(model.tables.front().placement, Placement::kRemote);
  EXPECT_EQ(PlaceHybrid(-1, Placement::kHost, {}, model).near, 0);
}

TEST(HybridPlacementTest, HotTablesAreNear) {
  Model model = Of({Table(100, 1), Table(100, 50), Table(100, 1)});
  PlaceHybrid(BytesOf(120), Placement::kHost, {}, model);
  ASSERT_EQ(model.tables.size(), 3u);
  EXPECT_EQ(model.tables[0].placement, Placement::kHost);
  EXPECT_EQ(model.tables[1].placement, Placement::kHbm);
  EXPECT_EQ(model.tables[2].placement, Placement::kHost);
}

// By size alone the first would be taken, and nothing else would fit: the other
// two together are worth more.
TEST(HybridPlacementTest, TwoTablesMayBeWorthMoreThanTheBest) {
  Model model = Of({Table(60, 6), Table(50, 4), Table(50, 4)});
  PlaceHybrid(BytesOf(102), Placement::kHost, {}, model);
  EXPECT_EQ(model.tables[0].placement, Placement::kHost);
  ASSERT_EQ(model.tables.size(), 2u);
  EXPECT_EQ(model.tables[1].placement, Placement::kHbm);
  EXPECT_EQ(model.tables[1].count, 2);
}

TEST(HybridPlacementTest, TheOptimizersStateTakesRoom) {
  Model model = Of({Table(100, 1)});
  model.table_optimizer = Optimizer::kAdam;  // Three numbers for one.
  EXPECT_EQ(PlaceHybrid(BytesOf(299), Placement::kHost, {}, model).near, 0);
  EXPECT_EQ(PlaceHybrid(BytesOf(300), Placement::kHost, {}, model).near, 1);
}

// What the best of all choices that fit is worth.
double BestWorth(const std::vector<TableGroup>& tables, double room) {
  double best = 0;
  for (uint32_t choice = 0; choice < 1U << tables.size(); ++choice) {
    double bytes = 0;
    double worth = 0;
    for (uint32_t i = 0; i < tables.size(); ++i) {
      const bool taken = (choice >> i & 1U) != 0;
      bytes += taken ? BytesOf(tables[i].rows) : 0;
      worth += taken ? TrafficOf(tables[i]) : 0;
    }
    best = bytes <= room ? std::max(best, worth) : best;
  }
  return best;
}

TEST(HybridPlacementTest, NoChoiceThatFitsIsWorthMuchMore) {
  Rng rng(7);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<TableGroup> tables;
    double all = 0;
    for (int i = 0; i < 10; ++i) {
      tables.push_back(Table(1 + static_cast<int64_t>(rng.Next() % 1000),
                             1 + static_cast<double>(rng.Next() % 20)));
      all += BytesOf(tables.back().rows);
    }
    const double room = all * 0.4;
    Model model = Of(tables);
    const HybridTables placed = PlaceHybrid(room, Placement::kHost, {}, model);
    EXPECT_LE(placed.near_bytes, room);
    double worth = 0;
    for (const TableGroup& table : SingleTables(model.tables)) {
      worth += table.placement == Placement::kHbm ? TrafficOf(table) : 0;
    }
    // Sizes are rounded up to a 16,384th of the room.
    EXPECT_GE(worth, 0.99 * BestWorth(tables, room)) << trial;
  }
}

}  // namespace
}  // namespace stepcast::model
