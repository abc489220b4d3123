#include "learn/fit/calibration.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

namespace stepcast::learn {
namespace {

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
  // Half of the rows are on each side, far more than the tenth outside.
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

// Rows from `middle` - 1 to `middle` + 1.
Misses Chip(std::string family, std::string chip, double middle) {
  Misses misses{.family = std::move(family),
                .type = "fp32",
                .chip = std::move(chip),
                .nothing = {},
                .ceilings = {}};
  for (int i = -100; i <= 100; ++i) {
    misses.nothing.push_back(middle + i / 100.0);
    misses.ceilings.push_back(i / 1000.0);
  }
  return misses;
}

TEST(SpreadsOf, TakesTheRowsWhereChipsAgree) {
  const std::vector<Misses> misses = {Chip("gemm", "a", 0),
                                      Chip("gemm", "b", 0)};
  const cost::FormulaSpreads spreads = SpreadsOf(misses);
  const cost::FamilySpread& gemm = spreads.at("gemm-fp32");
  EXPECT_NEAR(gemm.nothing.log2_p10, -0.8, 0.01);
  EXPECT_NEAR(gemm.nothing.log2_p90, 0.8, 0.01);
  EXPECT_NEAR(gemm.ceilings.log2_p90, 0.08, 0.001);
  EXPECT_EQ(spreads.at("gemm").nothing.log2_p90, gemm.nothing.log2_p90);
}

TEST(SpreadsOf, IsWiderWhereChipsDiffer) {
  const std::vector<Misses> misses = {
      Chip("gemm", "a", -1), Chip("gemm", "b", 1), Chip("gemm", "c", 0)};
  const cost::FamilySpread spread = SpreadsOf(misses).at("gemm");
  EXPECT_LT(spread.nothing.log2_p10, -1.5);
  EXPECT_GT(spread.nothing.log2_p90, 1.5);
  EXPECT_NEAR(spread.ceilings.log2_p90, 0.08, 0.001);
}

TEST(SpreadsOf, LeavesWhatOneChipShowsToTheOthers) {
  const std::vector<Misses> misses = {Chip("gemm", "a", 0),
                                      Chip("sort", "a", 0)};
  const cost::FormulaSpreads spreads = SpreadsOf(misses);
  EXPECT_FALSE(spreads.contains("gemm"));
  EXPECT_TRUE(spreads.contains("other"));
}

TEST(SpreadsOf, DoesNotCountAHandfulOfRows) {
  std::vector<Misses> misses = {Chip("gemm", "a", 0), Chip("gemm", "b", 0),
                                Chip("gemm", "c", 5)};
  misses.back().nothing.resize(5);
  misses.back().ceilings.resize(5);
  EXPECT_NEAR(SpreadsOf(misses).at("gemm").nothing.log2_p90, 0.8, 0.01);
}

TEST(SpreadsText, NamesEveryFamily) {
  const std::vector<Misses> misses = {Chip("gemm", "a", 0),
                                      Chip("gemm", "b", 0)};
  const std::string text = SpreadsText(SpreadsOf(misses), "a test");
  EXPECT_NE(text.find("# a test\n"), std::string::npos);
  EXPECT_NE(text.find("[gemm-fp32]\nlog2_p10 = -0.8"), std::string::npos);
  EXPECT_NE(text.find("[other]"), std::string::npos);
}

}  // namespace
}  // namespace stepcast::learn
