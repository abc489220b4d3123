#include "cost/kernels/concat.h"

#include "cost/kernels/memory_laws_testing.h"

namespace stepcast::cost {
namespace {

using ir::Concat;
using ir::DType;

TEST(ConcatBase, AnswersForTheAuthorsInteraction) {
  // 27 features of 128 for 2048 samples: 90-92 us.
  const Concat features{27, 2048 * 27 * 128, DType::kFp32};
  EXPECT_NEAR(ConcatBase(features, AuthorsV100()).time_us, 91, 9);
  // The products behind the dense features: 13-15 us.
  const Concat top{2, 2048 * (128 + 351), DType::kFp32};
  EXPECT_NEAR(ConcatBase(top, AuthorsV100()).time_us, 14, 2);
}

TEST(ConcatBase, NarrowTensorsAreBoundByAddresses) {
  const Machine h100{.device = hw::FindDevice("h100-sxm-80gb").value()};
  const Concat concat{2, 100'000'000, DType::kBf16};
  EXPECT_EQ(ConcatBase(concat, h100).bound, Bound::kCompute);
}

TEST(ConcatBase, ObeysTheLawsOfSize) {
  ExpectLawsOfSize([](int64_t size) { return Concat{4, size, DType::kFp16}; });
}

}  // namespace
}  // namespace stepcast::cost
