#include "explore/select_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explore/read_study.h"

namespace stepcast::explore {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Row RowOf(double more, double less) {
  Row row;
  row.at(Number::kSamplesPerS) = more;
  row.at(Number::kPowerW) = less;
  return row;
}

TEST(ParetoFrontTest, NoRowOfTheFrontIsBeaten) {
  // Row 1 takes more power than row 0 and does less; row 3 is as good as row 2.
  const std::vector<Row> rows = {RowOf(10, 100), RowOf(9, 200), RowOf(30, 300),
                                 RowOf(30, 300), RowOf(5, 50)};
  EXPECT_THAT(ParetoFront(rows, {}), ElementsAre(4, 0, 2));
}

TEST(ParetoFrontTest, RowsWithoutTimeAreNotOnIt) {
  Row unfit;
  unfit.at(Number::kPowerW) = 1;
  EXPECT_THAT(ParetoFront(std::vector<Row>{unfit, RowOf(1, 2)}, {}),
              ElementsAre(1));
  EXPECT_THAT(ParetoFront(std::vector<Row>{}, {}), IsEmpty());
}

TEST(FindParetoColumnsTest, PowerThenMemoryThenNothing) {
  Explored explored;
  explored.rows = {RowOf(1, 2)};
  ASSERT_TRUE(FindParetoColumns(explored).has_value());
  EXPECT_EQ(FindParetoColumns(explored)->less, Number::kPowerW);
  Row small;
  small.at(Number::kSamplesPerS) = 1;
  small.at(Number::kHbmGb) = 1;
  explored.rows = {small};
  ASSERT_TRUE(FindParetoColumns(explored).has_value());
  EXPECT_EQ(FindParetoColumns(explored)->less, Number::kHbmGb);
  explored.rows = {Row()};
  EXPECT_FALSE(FindParetoColumns(explored).has_value());
}

TEST(TornadoTest, TheWidestBarComesFirstAndInputsMoveAlone) {
  const auto study = ParseStudy(R"(
model = "dlrm_default"
[base]
gpu = "v100-sxm-32gb"
batch = 4096
[[sensitivity]]
name = "throughput"
of = {}
inputs = [
  { setting = "pooling", low = 90, high = 110 },
  { setting = "mlp_width", low = 256, high = 2048 },
]
[[sensitivity]]
name = "against itself"
of = { pooling = 10 }
against = { pooling = 10 }
inputs = [{ setting = "dim", low = 32, high = 128 }]
)",
                                "s.toml");
  ASSERT_TRUE(study.has_value()) << study.error().message;
  const std::vector<Tornado> tornados = MakeTornados(*study);
  ASSERT_EQ(tornados.size(), 2u);
  const Tornado& first = tornados[0];
  ASSERT_EQ(first.bars.size(), 2u);
  EXPECT_EQ(first.bars[0].setting, "mlp_width");
  // More work, fewer samples; what is usual lies between.
  for (const TornadoBar& bar : first.bars) {
    EXPECT_GT(bar.at_low, first.usual);
    EXPECT_LT(bar.at_high, first.usual);
  }
  EXPECT_EQ(tornados[1].usual, 1);
  EXPECT_EQ(tornados[1].bars[0].at_low, 1);
}

TEST(TornadoTest, WhatDoesNotFitMovesMost) {
  const auto study = ParseStudy(R"(
model = "dlrm_default"
[[sensitivity]]
name = "throughput"
of = {}
inputs = [
  { setting = "mlp_width", low = 64, high = 4096 },
  { setting = "rows", low = 1000, high = 1_000_000_000 },
]
)",
                                "s.toml");
  ASSERT_TRUE(study.has_value()) << study.error().message;
  const std::vector<Tornado> tornados = MakeTornados(*study);
  ASSERT_EQ(tornados.size(), 1u);
  EXPECT_EQ(tornados[0].bars[0].setting, "rows");
  EXPECT_TRUE(std::isnan(tornados[0].bars[0].at_high));
}

}  // namespace
}  // namespace stepcast::explore
