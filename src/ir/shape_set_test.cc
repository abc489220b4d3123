#include "ir/shape_set.h"

#include <gtest/gtest.h>

namespace stepcast::ir {
namespace {

TEST(ShapeSetTest, EqualShapesShareAnId) {
  ShapeSet set;
  const ShapeId first = set.Insert(Gemm{.m = 1});
  EXPECT_EQ(set.Insert(Gemm{.m = 2}).value, 1u);
  EXPECT_EQ(set.Insert(Gemm{.m = 1}), first);
  EXPECT_EQ(set.shapes().size(), 2u);
}

// Two families with nothing but zeros in them.
TEST(ShapeSetTest, FamiliesAreDistinguished) {
  ShapeSet set;
  EXPECT_NE(set.Insert(Fill{}), set.Insert(Transpose{}));
}

TEST(ShapeSetTest, ManyShapesKeepTheirIds) {
  constexpr int64_t kCount = 10'000;
  ShapeSet set;
  for (int round = 0; round < 2; ++round) {
    for (int64_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(set.Insert(Fill{.bytes = Bytes{i}}).value, i);
    }
  }
  EXPECT_EQ(set.shapes().size(), kCount);
}

TEST(ShapeSetTest, EveryElementOfAListCounts) {
  EXPECT_NE(HashOf(Collective{.send_splits = {1, 2}}),
            HashOf(Collective{.send_splits = {1}, .receive_splits = {2}}));
}

}  // namespace
}  // namespace stepcast::ir
