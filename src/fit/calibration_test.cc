#include "fit/calibration.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

namespace stepcast::fit {
namespace {

using measurements::KernelRow;
using measurements::Part;

// Kernels of one microsecond by the formula, of sizes 1, 2, 3 and so on.
class MadeKernels {
 public:
  explicit MadeKernels(size_t count) : measured_(count) {
    for (size_t i = 0; i < count; ++i) {
      measured_[i].shape = ir::Softmax{.rows = static_cast<int64_t>(i + 1),
                                       .columns = 1,
                                       .dtype = ir::DType::kFp32};
    }
  }

  // `log2` is how much longer they took.
  void Add(size_t shape, Part part, double log2) {
    rows_.rows.push_back({.row = &measured_[shape],
                          .part = part,
                          .base_us = 1,
                          .log_time = std::log(std::exp2(log2)),
                          .counts = true});
  }

  const TrainingRows& rows() const { return rows_; }
  std::vector<double> Ones() const {
    return std::vector<double>(rows_.rows.size(), 1.0);
  }

 private:
  std::vector<KernelRow> measured_;
  TrainingRows rows_;
};

TEST(Calibrate, HeldOutRowsWidenWhatAFewValidationRowsSay) {
  MadeKernels made(105);
  for (size_t i = 0; i < 5; ++i) {
    made.Add(i, Part::kValidation, 0);
  }
  for (size_t i = 5; i < 105; ++i) {
    made.Add(i, Part::kFit, i % 2 == 0 ? 0.5 : -0.25);
  }
  const auto spread =
      Calibrate(made.rows(), made.Ones(),
                [&](const TrainingRows&) -> Result<std::vector<double>> {
                  return made.Ones();
                });
  ASSERT_TRUE(spread) << spread.error().message;
  // Half of the rows lie at each side, far more than the tenth outside.
  ASSERT_EQ(spread->log2_p90.size(), 1u);
  EXPECT_NEAR(spread->log2_p10[0], -0.25, 1e-9);
  EXPECT_NEAR(spread->log2_p90[0], 0.5, 1e-9);
}

TEST(Calibrate, EachShapeIsHeldOutOnceWithItsRepeats) {
  MadeKernels made(40);
  for (size_t i = 0; i < 40; ++i) {
    made.Add(i, Part::kFit, 0);
    made.Add(i, Part::kFit, 0.1);
  }
  std::multiset<const KernelRow*> held_out;
  size_t fits = 0;
  const auto spread =
      Calibrate(made.rows(), made.Ones(),
                [&](const TrainingRows& fewer) -> Result<std::vector<double>> {
                  ++fits;
                  for (const TrainingRow& row : fewer.rows) {
                    if (row.part != Part::kFit) {
                      held_out.insert(row.row);
                    }
                  }
                  // Both rows of a shape, or none.
                  for (size_t i = 0; i < fewer.rows.size(); i += 2) {
                    EXPECT_EQ(fewer.rows[i].part, fewer.rows[i + 1].part);
                  }
                  return made.Ones();
                });
  ASSERT_TRUE(spread) << spread.error().message;
  EXPECT_EQ(fits, 10u);
  for (const TrainingRow& row : made.rows().rows) {
    EXPECT_EQ(held_out.count(row.row), 2u);
  }
}

TEST(Calibrate, ManyValidationRowsSpeakForThemselves) {
  MadeKernels made(300);
  for (size_t i = 0; i < 200; ++i) {
    made.Add(i, Part::kValidation, i % 2 == 0 ? 0.1 : -0.1);
  }
  for (size_t i = 200; i < 300; ++i) {
    made.Add(i, Part::kFit, 3);
  }
  const auto spread =
      Calibrate(made.rows(), made.Ones(),
                [&](const TrainingRows&) -> Result<std::vector<double>> {
                  ADD_FAILURE() << "nothing is to be fitted again";
                  return made.Ones();
                });
  ASSERT_TRUE(spread) << spread.error().message;
  EXPECT_NEAR(spread->log2_p10[0], -0.1, 1e-9);
  EXPECT_NEAR(spread->log2_p90[0], 0.1, 1e-9);
}

}  // namespace
}  // namespace stepcast::fit
