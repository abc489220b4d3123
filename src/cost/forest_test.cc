#include "cost/forest.h"

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"

namespace stepcast::cost {
namespace {

using ::testing::HasSubstr;

// Feature 0 below 2.5: 1, else feature 1 below -1: 2, else 4.
Tree SmallTree() {
  return {{.feature = 0, .threshold = 2.5F, .left = 1, .right = 2},
          {.value = 1},
          {.feature = 1, .threshold = -1, .left = 3, .right = 4},
          {.value = 2},
          {.value = 4}};
}

std::vector<float> Evaluate(const Forest& forest,
                            const std::vector<float>& rows) {
  std::vector<float> sums(rows.size() / forest.feature_count());
  forest.Evaluate(rows, sums);
  return sums;
}

TEST(Forest, SumsTheLeavesThatARowReaches) {
  const std::vector<Tree> trees = {SmallTree(), {{.value = 10}}};
  const Forest forest = Forest::Make(trees, 2);
  EXPECT_EQ(forest.tree_count(), 2u);
  EXPECT_THAT(Evaluate(forest, {0, 0, 3, -2, 3, 0, 2.5, -1}),
              testing::Pointwise(testing::FloatEq(),
                                 std::vector<float>{11, 12, 14, 14}));
}

TEST(Forest, AppendedTreesAddToTheSum) {
  const std::vector<Tree> trees = {SmallTree(), {{.value = 10}}, SmallTree()};
  Forest forest = Forest::Make(std::span(trees).first(2), 2);
  forest.Append(Forest::Make(std::span(trees).last(1), 2));
  EXPECT_EQ(forest.Text(), Forest::Make(trees, 2).Text());
  EXPECT_THAT(
      Evaluate(forest, {0, 0, 3, -2}),
      testing::Pointwise(testing::FloatEq(), std::vector<float>{12, 14}));
}

TEST(Forest, TextComesBackTheSame) {
  Rng rng(7);
  std::vector<Tree> trees;
  for (int i = 0; i < 20; ++i) {
    Tree tree = SmallTree();
    for (TreeNode& node : tree) {
      node.threshold = static_cast<float>(rng.Below(1'000'000)) / 997.0F;
      node.value = static_cast<float>(rng.Below(1000)) / 7.0F;
    }
    trees.push_back(tree);
  }
  const Forest forest = Forest::Make(trees, 2);
  const auto back = Forest::Parse(forest.Text(), 2, "x");
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_EQ(back->Text(), forest.Text());
  std::vector<float> rows;
  for (int i = 0; i < 200; ++i) {
    rows.push_back(static_cast<float>(rng.Below(2'000'000)) / 997.0F);
  }
  EXPECT_EQ(Evaluate(*back, rows), Evaluate(forest, rows));
}

TEST(Forest, RowsDoNotDependOnTheirNeighbours) {
  const std::vector<Tree> trees = {SmallTree()};
  const Forest forest = Forest::Make(trees, 2);
  std::vector<float> rows;
  for (int i = 0; i < 26; ++i) {
    rows.push_back(static_cast<float>(i % 5));
  }
  const std::vector<float> all = Evaluate(forest, rows);
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i], Evaluate(forest, {rows[2 * i], rows[2 * i + 1]})[0]);
  }
}

TEST(Forest, RefusesWhatIsNotATree) {
  const auto problem = [](std::string_view text) {
    const auto forest = Forest::Parse(text, 2, "x.model");
    return forest ? std::string("none") : forest.error().message;
  };
  EXPECT_EQ(problem("0:1 =1 =2\n"), "none");
  EXPECT_THAT(problem("0:1 =1\n"), HasSubstr("x.model: tree 1"));
  EXPECT_THAT(problem("0:1 =1 =2 =3\n"), HasSubstr("more nodes"));
  EXPECT_THAT(problem("=1\n2:1 =1 =2\n"), HasSubstr("tree 2: '2:1' is not"));
  EXPECT_THAT(problem("0:inf =1 =2\n"), HasSubstr("is not a split"));
  EXPECT_THAT(problem("=1.5\n"), HasSubstr("is not a leaf"));
  std::string deep;
  for (int i = 0; i < 100000; ++i) {
    deep += "0:1 ";
  }
  EXPECT_THAT(problem(deep), HasSubstr("too deep"));
  // All leaves but the last come after 17 levels of splits: 2^18 nodes.
  std::string large;
  const auto append = [&](const auto& self, int depth) -> void {
    large += depth == 0 ? "=1 " : "0:1 ";
    for (int i = 0; depth > 0 && i < 2; ++i) {
      self(self, depth - 1);
    }
  };
  append(append, 17);
  EXPECT_THAT(problem(large), HasSubstr("too large"));
}

TEST(Forest, ThresholdsAreThoseOfTheirDigits) {
  Rng rng(3);
  for (int i = 0; i < 20000; ++i) {
    // Of any size, as "%.6g" writes them: with and without an exponent.
    const float exact =
        std::ldexp(static_cast<float>(rng.Between(-999999, 999999)),
                   static_cast<int>(rng.Between(-40, 40)));
    const std::string text = fmt::format("{:.6g}", exact);
    const float expected = std::stof(text);
    const auto forest =
        Forest::Parse(fmt::format("0:{} =0 =100000\n", text), 1, "x");
    ASSERT_TRUE(forest) << forest.error().message;
    // Left is what is below.
    const float below = std::nextafter(expected, -1e30F);
    EXPECT_EQ(Evaluate(*forest, {below}), std::vector<float>{0}) << text;
    EXPECT_EQ(Evaluate(*forest, {expected}), std::vector<float>{1}) << text;
  }
}

}  // namespace
}  // namespace stepcast::cost
