#include "cost/kernels/transpose.h"

#include "cost/kernels/memory_laws_testing.h"

namespace stepcast::cost {
namespace {

using ir::DType;
using ir::Transpose;

TEST(TransposeBase, RowsThatStayTogetherMoveAtTheRateOfAddresses) {
  // [16, 16, 559, 64] in bf16 with the heads moved: 29 us on H100.
  const Machine h100{.device = hw::FindDevice("h100-sxm-80gb").value()};
  const Transpose op{9'158'656, 64, DType::kBf16};
  EXPECT_NEAR(TransposeBase(op, h100).time_us, 29, 4);
}

TEST(TransposeBase, LoneElementsCostASectorEach) {
  // [8, 12, 64, 3137] in bf16, fully transposed: 154 us on H100, where rows
  // of the same tensor take 59.
  const Machine h100{.device = hw::FindDevice("h100-sxm-80gb").value()};
  const Transpose lone{19'273'728, 1, DType::kBf16};
  const Transpose rows{19'273'728, 64, DType::kBf16};
  EXPECT_NEAR(TransposeBase(lone, h100).time_us, 154, 20);
  EXPECT_NEAR(TransposeBase(rows, h100).time_us, 59, 6);
  EXPECT_EQ(TransposeBase(lone, h100).bound, Bound::kL2);
}

TEST(TransposeBase, LongerRunsAreNeverSlower) {
  const Machine v100 = AuthorsV100();
  double last = 1e9;
  for (int64_t run = 1; run <= 1024; run *= 2) {
    const Transpose op{1 << 22, run, DType::kFp32};
    EXPECT_LE(TransposeBase(op, v100).time_us, last) << run;
    last = TransposeBase(op, v100).time_us;
  }
}

TEST(TransposeBase, ObeysTheLawsOfSize) {
  for (const int64_t run : {0, 1, 64}) {
    ExpectLawsOfSize([run](int64_t size) {
      return Transpose{size, run, DType::kFp32};
    });
  }
}

}  // namespace
}  // namespace stepcast::cost
