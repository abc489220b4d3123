#include "cost/kernels/lin2022_small_ops.h"

#include "cost/kernels/memory_laws_testing.h"

namespace stepcast::cost {
namespace {

using ir::DType;

TEST(Lin2022SmallOps, RooflineOfAnActivation) {
  // 2 x 8.4 MB / 804.5 GB/s.
  const ir::Elementwise relu{.elements = 1 << 21,
                             .read = {1 << 23},
                             .written = {1 << 23},
                             .dtype = DType::kFp32};
  EXPECT_NEAR(*Lin2022RooflineUs(relu, AuthorsV100()), 20.9, 0.1);
}

TEST(Lin2022SmallOps, ArithmeticCountsWhereItIsLonger) {
  // 2 M x 175 FLOP / 15.44 TFLOP/s = 23.8 us.
  const ir::Elementwise gelu{.elements = 1 << 21,
                             .read = {1 << 23},
                             .written = {1 << 23},
                             .dtype = DType::kFp32,
                             .arithmetic = ir::Arithmetic::kTranscendental};
  EXPECT_NEAR(*Lin2022RooflineUs(gelu, AuthorsV100()), 23.8, 0.1);
}

TEST(Lin2022SmallOps, ConcatHasItsOwnShare) {
  // 2 x 28.3 MB / (0.79 x 804.5 GB/s): 89 us for what takes 91.
  const ir::Concat concat{27, 2048 * 27 * 128, DType::kFp32};
  EXPECT_NEAR(Lin2022ConcatUs(concat, AuthorsV100()), 89.1, 0.1);
  EXPECT_EQ(Lin2022SmallOpUs(concat, AuthorsV100()),
            Lin2022ConcatUs(concat, AuthorsV100()));
}

TEST(Lin2022SmallOps, MemcpyKnowsNoPinnedMemory) {
  // 6.55 MB / 8.1 GB/s = 809 us, pinned or not.
  ir::Copy copy{ir::CopyKind::kHostToDevice, {6'553'600}, true};
  EXPECT_NEAR(Lin2022MemcpyUs(copy, AuthorsV100()), 809, 1);
  copy.pinned = false;
  EXPECT_NEAR(Lin2022MemcpyUs(copy, AuthorsV100()), 809, 1);
}

TEST(Lin2022SmallOps, HasNoFormulaForProducts) {
  EXPECT_FALSE(Lin2022SmallOpUs(ir::Gemm{1, 64, 64, 64}, AuthorsV100()));
}

TEST(Lin2022SmallOps, OtherGpusUseWhatTheySustain) {
  const Machine h100{.device = hw::FindDevice("h100-sxm-80gb").value()};
  const ir::Transpose op{1 << 30, 0, DType::kFp32};
  EXPECT_NEAR(*Lin2022RooflineUs(op, h100),
              2 * 4 * (1LL << 30) / h100.copy_rate(), 1);
}

}  // namespace
}  // namespace stepcast::cost
