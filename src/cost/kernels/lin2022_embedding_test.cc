#include "cost/kernels/lin2022_embedding.h"

#include <cmath>

#include <gtest/gtest.h>

#include "cost/kernels/embedding.h"
#include "cost/kernels/embedding_testing.h"
#include "cost/machine_testing.h"

namespace stepcast::cost {
namespace {

TEST(Lin2022Embedding, IsTheFormulaOfThePaper) {
  // An independent evaluation of the published formula gives these times.
  const Machine v100 = On("v100-sxm-16gb");
  EXPECT_NEAR(Lin2022EmbeddingUs(RandomDlrm(), v100), 535.04, 0.01);
  EXPECT_NEAR(Lin2022EmbeddingUs(Backward(RandomDlrm()), v100), 1056.40, 0.01);
  EXPECT_NEAR(Lin2022EmbeddingUs(CriteoDlrm(), v100), 88.11, 0.01);
  EXPECT_NEAR(Lin2022EmbeddingUs(Backward(CriteoDlrm()), v100), 99.87, 0.01);
}

TEST(Lin2022EmbeddingSimple, TakesEveryRowFromDram) {
  const Machine v100 = On("v100-sxm-16gb");
  // 2048 * 8 * (96 + 416 + 100 * 256 + 256) B / 804.497 GB/s
  EXPECT_NEAR(Lin2022EmbeddingSimpleUs(RandomDlrm(), v100), 537.0, 0.1);
  EXPECT_NEAR(Lin2022EmbeddingSimpleUs(Backward(RandomDlrm()), v100), 1058.4,
              0.1);
}

TEST(Lin2024Embedding, CountsDistinctRows) {
  const Machine v100 = On("v100-sxm-16gb");
  EXPECT_NEAR(Lin2024EmbeddingUs(RandomDlrm(), v100), 584.7, 0.1);
  EXPECT_NEAR(Lin2024EmbeddingUs(CriteoDlrm(), v100), 63.3, 0.1);
}

TEST(Lin2022Embedding, IsFurtherFromTheirKernelsThanOurFormula) {
  struct Kernel {
    ir::EmbeddingBag bag{};
    double measured_us = 0;
  };
  const std::vector<Kernel> kernels = {{RandomDlrm(), 521.8},
                                       {Backward(RandomDlrm()), 1276.7},
                                       {CriteoDlrm(), 53},
                                       {Backward(CriteoDlrm()), 109}};
  const Machine v100 = On("v100-sxm-16gb");
  double theirs = 0;
  double ours = 0;
  for (const Kernel& kernel : kernels) {
    theirs +=
        std::abs(Lin2022EmbeddingUs(kernel.bag, v100) / kernel.measured_us - 1);
    ours += std::abs(
        EmbeddingBase(kernel.bag, v100).time_us / kernel.measured_us - 1);
  }
  EXPECT_LT(ours, theirs / 3);
}

}  // namespace
}  // namespace stepcast::cost
