#include "learn/measured/csv.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::learn {
namespace {

using ::testing::ElementsAre;

TEST(CsvTable, ReadsRowsAndTheirLines) {
  const auto table = CsvTable::Parse("a,b\n1,2\n\n3,4\r\n5,", "x.csv");
  ASSERT_TRUE(table.has_value()) << table.error().message;
  EXPECT_THAT(table->header(), ElementsAre("a", "b"));
  ASSERT_EQ(table->row_count(), 3u);
  EXPECT_THAT(table->row(1), ElementsAre("3", "4"));
  EXPECT_EQ(table->line(1), 4u);
  EXPECT_THAT(table->row(2), ElementsAre("5", ""));
}

TEST(CsvTable, QuotedCellsHoldAnything) {
  const auto table =
      CsvTable::Parse("a,b\n\"1,\"\"x\"\"\n2\",\"\"\n7,8\n", "x.csv");
  ASSERT_TRUE(table.has_value()) << table.error().message;
  EXPECT_THAT(table->row(0), ElementsAre("1,\"x\"\n2", ""));
  EXPECT_EQ(table->line(1), 4u);
}

TEST(CsvTable, NamesTheLineOfAShortRow) {
  const auto table = CsvTable::Parse("a,b\n1,2\n3\n", "x.csv");
  ASSERT_FALSE(table.has_value());
  EXPECT_EQ(table.error().message,
            "x.csv:3: 1 cells; expected 2 as in the header");
}

TEST(CsvTable, RefusesAnOpenQuote) {
  EXPECT_FALSE(CsvTable::Parse("a,b\n1,\"2\n", "x.csv").has_value());
  EXPECT_FALSE(CsvTable::Parse("a,b\n1,\"2\"x\n", "x.csv").has_value());
}

TEST(CsvTable, SaysWhichColumnsAreMissing) {
  const auto table = CsvTable::Parse("a,b\n", "x.csv");
  ASSERT_TRUE(table.has_value());
  constexpr std::array<std::string_view, 3> kNames = {"a", "c", "d"};
  const auto columns = table->FindColumns(kNames);
  ASSERT_FALSE(columns.has_value());
  EXPECT_EQ(columns.error().message, "x.csv:1: no column c, d; expected a,c,d");
}

TEST(Cell, NumbersAreWhole) {
  EXPECT_EQ(CellNumber("1.5"), 1.5);
  EXPECT_EQ(CellNumber("1.5us"), std::nullopt);
  EXPECT_EQ(CellNumber("nan"), std::nullopt);
  EXPECT_EQ(CellInt("12.0"), 12);
  EXPECT_EQ(CellInt("12.5"), std::nullopt);
  EXPECT_EQ(CellInt(""), std::nullopt);
}

}  // namespace
}  // namespace stepcast::learn
