#include "scenario/resize_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::scenario {
namespace {

using ::testing::ElementsAre;

TEST(ResizeModelTest, MoreTablesBeginAgainWithTheFirst) {
  model::Model model;
  model.tables = {{.count = 2, .rows = 10, .dim = 8}, {.rows = 20, .dim = 8}};
  SetTableCount(5, model);
  // 10, 10, 20, 10, 10 rows.
  ASSERT_EQ(model.tables.size(), 3u);
  EXPECT_EQ(TableCount(model), 5);
  EXPECT_EQ(model.tables[1].rows, 20);
  EXPECT_EQ(model.tables[2].count, 2);
}

TEST(ResizeModelTest, FewerTablesAreTheFirstOnes) {
  model::Model model;
  model.tables = {{.count = 2, .rows = 10, .dim = 8}, {.rows = 20, .dim = 8}};
  SetTableCount(1, model);
  ASSERT_EQ(model.tables.size(), 1u);
  EXPECT_EQ(model.tables[0].count, 1);
  EXPECT_EQ(model.tables[0].rows, 10);
}

TEST(ResizeModelTest, TheBottomEndsAsWideAsTheTables) {
  model::Model model;
  model.tables = {{.rows = 10, .dim = 64}};
  model.bottom_mlp = {512, 64};
  SetDim(128, model);
  EXPECT_THAT(model.bottom_mlp, ElementsAre(512, 128));
}

TEST(ResizeModelTest, TheLastLayerKeepsItsWidth) {
  std::vector<int64_t> mlp = {512, 256, 1};
  SetWidth(1024, mlp);
  EXPECT_THAT(mlp, ElementsAre(1024, 1024, 1));
  SetDepth(3, mlp);
  EXPECT_THAT(mlp, ElementsAre(1024, 1024, 1024, 1));
}

TEST(ResizeModelTest, LayersAreWidthsWithDashes) {
  const auto widths = ParseMlp("512-256-1");
  ASSERT_TRUE(widths.has_value());
  EXPECT_THAT(*widths, ElementsAre(512, 256, 1));
  for (const char* text : {"", "512-", "-1", "512-0", "a", "1e3"}) {
    EXPECT_FALSE(ParseMlp(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace stepcast::scenario
