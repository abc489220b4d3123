#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "learn/fit/fit_kernels.h"

namespace stepcast::learn {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

// Times of products of `m` rows.
struct Measured {
  int64_t m = 0;
  double time_us = 0;
};

std::optional<std::string> DoubtAbout(const std::vector<Measured>& measured) {
  std::vector<KernelRow> rows;
  for (const Measured& one : measured) {
    KernelRow row;
    row.shape = ir::Gemm{.m = one.m, .n = 64, .k = 64};
    row.time_us = one.time_us;
    rows.push_back(row);
  }
  TrainingRows training;
  for (const KernelRow& row : rows) {
    training.rows.push_back({.row = &row, .counts = true});
  }
  return DoubtAboutRepeats(training);
}

TEST(FitDoubtsTest, RepeatsThatAgreeAreFine) {
  EXPECT_EQ(DoubtAbout({{1, 10}, {1, 11}, {2, 20}, {2, 21}, {3, 30}, {3, 29}}),
            std::nullopt);
}

TEST(FitDoubtsTest, RepeatsThatDoNotAgreeAreNamed) {
  // Ratios of 2, 3 and 4: 3 in the median.
  EXPECT_THAT(
      DoubtAbout({{1, 10}, {1, 20}, {2, 20}, {2, 60}, {3, 30}, {3, 120}}),
      Optional(HasSubstr("3 of 3 shapes that were measured more than once "
                         "differ by x3.0")));
}

TEST(FitDoubtsTest, AFewAmongManyAreAccidents) {
  std::vector<Measured> measured = {{1, 10}, {1, 20}, {2, 20},
                                    {2, 60}, {3, 30}, {3, 120}};
  for (int64_t m = 4; m < 20; ++m) {
    measured.push_back({m, 10});
    measured.push_back({m, 10});
  }
  EXPECT_EQ(DoubtAbout(measured), std::nullopt);
}

TEST(FitDoubtsTest, DifferentShapesMayDiffer) {
  EXPECT_EQ(DoubtAbout({{1, 10}, {2, 20}, {3, 60}, {4, 120}}), std::nullopt);
}

TEST(FitDoubtsTest, AModelFarOffItsTestRowsIsNamed) {
  FitSummary summary;
  summary.model = {.n = 20, .gmae_pct = 37};
  EXPECT_THAT(DoubtAboutModel(summary), Optional(HasSubstr("off by 37 %")));
  summary.model.gmae_pct = 5;
  EXPECT_EQ(DoubtAboutModel(summary), std::nullopt);
  summary.model = {.n = 2, .gmae_pct = 37};
  EXPECT_EQ(DoubtAboutModel(summary), std::nullopt);
}

}  // namespace
}  // namespace stepcast::learn
