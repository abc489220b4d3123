#include "cost/kernels/families.h"
#include "cost/kernels/memory_laws_testing.h"

namespace stepcast::cost {
namespace {

using ir::DType;
using ir::OptimizerStep;
using ir::Update;

TEST(OptimizerStepBase, ListsRunAtTheRateOfMemory) {
  // _foreach_add_ over 320 chunks of 65536 elements: 454 us on a 2080 Ti.
  const Machine gpu{.device = hw::FindDevice("rtx-2080-ti").value()};
  const OptimizerStep step{Update::kSgd, 40, 320 * 65536, DType::kFp32};
  EXPECT_NEAR(OptimizerStepBase(step, gpu).time_us, 454, 60);
}

TEST(OptimizerStepBase, FewChunksLeaveSmsIdle) {
  // The 17 chunks that are left after that launch: 53 us, where memory alone
  // would take 25.
  const Machine gpu{.device = hw::FindDevice("rtx-2080-ti").value()};
  const OptimizerStep step{Update::kSgd, 16, 16 * 65536, DType::kFp32};
  EXPECT_NEAR(OptimizerStepBase(step, gpu).time_us, 53, 4);
}

TEST(OptimizerStepBase, OneTensorIsAPlainStream) {
  // 1024 x 1024 weights of the authors' V100: 16-17 us.
  const OptimizerStep step{Update::kSgd, 1, 1 << 20, DType::kFp32};
  EXPECT_NEAR(OptimizerStepBase(step, AuthorsV100()).time_us, 17, 2);
}

TEST(OptimizerStepBase, AdamMovesMoreThanSgd) {
  // Seven tensors instead of three.
  const Machine v100 = AuthorsV100();
  const OptimizerStep sgd{Update::kSgd, 1, 1 << 28, DType::kFp32};
  const OptimizerStep adam{Update::kAdam, 1, 1 << 28, DType::kFp32};
  EXPECT_NEAR(OptimizerStepBase(adam, v100).time_us /
                  OptimizerStepBase(sgd, v100).time_us,
              7.0 / 3, 0.01);
}

TEST(OptimizerStepBase, ObeysTheLawsOfSize) {
  for (const int64_t tensors : {1, 100}) {
    ExpectLawsOfSize([tensors](int64_t size) {
      return OptimizerStep{Update::kAdagrad, tensors, size, DType::kFp32};
    });
  }
}

}  // namespace
}  // namespace stepcast::cost
