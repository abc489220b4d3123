#include "cost/kernels/reduction.h"

#include "cost/kernels/memory_laws_testing.h"

namespace stepcast::cost {
namespace {

using ir::DType;
using ir::Reduction;

TEST(ReductionBase, AnswersForTheAuthorsBiasGradients) {
  // 2048 rows of 1024: 19-27 us, 23 on average; of 64: 10 us.
  const Reduction wide{2048 * 1024, 1024, DType::kFp32, true};
  const Reduction narrow{2048 * 64, 64, DType::kFp32, true};
  EXPECT_NEAR(ReductionBase(wide, AuthorsV100()).time_us, 23, 2);
  EXPECT_NEAR(ReductionBase(narrow, AuthorsV100()).time_us, 10, 1.5);
}

TEST(ReductionBase, AnswersForALoss) {
  // 2048 elements into one: 6.5 us.
  const Reduction loss{2048, 1, DType::kFp32};
  EXPECT_NEAR(ReductionBase(loss, AuthorsV100()).time_us, 6.5, 0.7);
}

TEST(ReductionBase, LargeSumsRunAtTheRateOfMemory) {
  // 32256 rows of 1536 FP32, 198 MB: 78 us on H100.
  Machine h100{.device = hw::FindDevice("h100-sxm-80gb").value()};
  h100.device.copy_share = 0.95;
  const Reduction mean{49'545'216, 32256, DType::kFp32};
  EXPECT_NEAR(ReductionBase(mean, h100).time_us, 78, 10);
}

TEST(ReductionBase, ObeysTheLawsOfSize) {
  for (const bool strided : {false, true}) {
    ExpectLawsOfSize([strided](int64_t size) {
      return Reduction{size * 32, 32, DType::kFp16, strided};
    });
  }
}

}  // namespace
}  // namespace stepcast::cost
