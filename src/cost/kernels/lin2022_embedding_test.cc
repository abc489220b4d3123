#include "cost/kernels/lin2022_embedding.h"

#include <cmath>

#include <gtest/gtest.h>

#include "cost/kernels/embedding.h"
#include "hw/gpu_files.h"

namespace stepcast::cost {
namespace {

ir::EmbeddingBag RandomDlrm() {
  return {.tables = 8,
          .rows = 8'000'000,
          .dim = 64,
          .batch = 2048,
          .lookups = 8 * 2048 * 100,
          .dtype = ir::DType::kFp32,
          .index_alpha = 0,
          .kernel = ir::BagKernel::kAtomic,
          .longest_bag = 100};
}

ir::EmbeddingBag CriteoDlrm() {
  return {.tables = 26,
          .rows = 60'557'626,
          .dim = 128,
          .batch = 2048,
          .lookups = 26 * 2048,
          .dtype = ir::DType::kFp32,
          .index_alpha = -1,
          .kernel = ir::BagKernel::kAtomic,
          .longest_bag = 1,
          .table_rows = {14885288, 29419,    15123,   7291,     19899,  3,
                         6463,     1310,     61,      10155909, 618195, 218994,
                         10,       2208,     9779,    71,       4,      963,
                         14,       16967044, 4154705, 13180313, 289595, 10828,
                         95,       34}};
}

ir::EmbeddingBag Backward(ir::EmbeddingBag bag) {
  bag.pass = ir::Pass::kBackward;
  bag.update = ir::Update::kSgd;
  return bag;
}

Machine V100() {
  return Machine{.device = hw::FindDevice("v100-sxm-16gb").value()};
}

TEST(Lin2022Embedding, IsTheFormulaOfThePaper) {
  // An independent evaluation of the published formula gives these times.
  const Machine v100 = V100();
  EXPECT_NEAR(Lin2022EmbeddingUs(RandomDlrm(), v100), 535.04, 0.01);
  EXPECT_NEAR(Lin2022EmbeddingUs(Backward(RandomDlrm()), v100), 1056.40, 0.01);
  EXPECT_NEAR(Lin2022EmbeddingUs(CriteoDlrm(), v100), 88.11, 0.01);
  EXPECT_NEAR(Lin2022EmbeddingUs(Backward(CriteoDlrm()), v100), 99.87, 0.01);
}

TEST(Lin2022EmbeddingSimple, TakesEveryRowFromDram) {
  const Machine v100 = V100();
  // 2048 * 8 * (96 + 416 + 100 * 256 + 256) B / 804.497 GB/s
  EXPECT_NEAR(Lin2022EmbeddingSimpleUs(RandomDlrm(), v100), 537.0, 0.1);
  EXPECT_NEAR(Lin2022EmbeddingSimpleUs(Backward(RandomDlrm()), v100), 1058.4,
              0.1);
}

TEST(Lin2024Embedding, CountsDistinctRows) {
  const Machine v100 = V100();
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
  const Machine v100 = V100();
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
