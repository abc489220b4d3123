#include "explore/pareto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace stepcast::explore
