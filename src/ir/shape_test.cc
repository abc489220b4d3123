#include "ir/shape.h"

#include <gtest/gtest.h>

namespace stepcast::ir {
namespace {

TEST(ShapeTest, FamiliesHaveNames) {
  EXPECT_EQ(FamilyName(Opaque{}), "opaque");
  EXPECT_EQ(FamilyName(EmbeddingBag{}), "embedding_bag");
  EXPECT_EQ(FamilyName(Collective{}), "collective");
}

TEST(ShapeTest, AShapeIsSizedWhenEveryNumberThatDecidesItsTimeIsKnown) {
  Gemm gemm{.batch = 1, .m = 16, .n = 256, .k = 13, .dtype = DType::kFp32};
  EXPECT_TRUE(IsSized(gemm));
  gemm.k = 0;
  EXPECT_FALSE(IsSized(gemm));
  gemm.k = -13;
  EXPECT_FALSE(IsSized(gemm));
  gemm.k = 13;
  gemm.dtype = DType::kUnknown;
  EXPECT_FALSE(IsSized(gemm));
}

TEST(ShapeTest, NothingIsKnownOfDefaultShapesAndOpaqueOnes) {
  EXPECT_FALSE(IsSized(Opaque{}));
  EXPECT_FALSE(IsSized(Copy{}));
  EXPECT_FALSE(IsSized(Fill{}));
  EXPECT_FALSE(IsSized(Convolution{}));
}

TEST(ShapeTest, AnElementwiseKernelMayReadNothing) {
  EXPECT_TRUE(IsSized(Elementwise{.elements = 8, .written = Bytes{32}}));
  EXPECT_FALSE(IsSized(Elementwise{.elements = 8, .read = Bytes{32}}));
}

TEST(ShapeTest, APaddingOfZeroIsKnown) {
  EXPECT_TRUE(IsSized(Convolution{.batch = 1,
                                  .in_channels = 3,
                                  .height = 8,
                                  .width = 8,
                                  .out_channels = 4,
                                  .kernel_height = 1,
                                  .kernel_width = 1,
                                  .dtype = DType::kFp16}));
}

TEST(ShapeTest, ACopyNeedsItsDirection) {
  EXPECT_FALSE(IsSized(Copy{.bytes = Bytes{24}}));
  EXPECT_TRUE(
      IsSized(Copy{.kind = CopyKind::kDeviceToHost, .bytes = Bytes{24}}));
}

TEST(ShapeTest, ACollectiveNeedsBytesOrSplitsUnlessItIsABarrier) {
  Collective collective{.kind = CollectiveKind::kAllToAll, .group_size = 8};
  EXPECT_FALSE(IsSized(collective));
  collective.bytes = Bytes{192};
  EXPECT_TRUE(IsSized(collective));
  collective.bytes = Bytes{0};
  collective.send_splits = {0, 0};
  EXPECT_TRUE(IsSized(collective));
  EXPECT_TRUE(
      IsSized(Collective{.kind = CollectiveKind::kBarrier, .group_size = 8}));
  EXPECT_FALSE(IsSized(Collective{.bytes = Bytes{8}, .group_size = 8}));
}

}  // namespace
}  // namespace stepcast::ir
