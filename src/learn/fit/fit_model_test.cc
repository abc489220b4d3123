#include "learn/fit/fit_model.h"

#include <cmath>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::learn {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

const RowGroup kProducts{.family = cost::FindFamily(ir::Gemm{}),
                         .variant = cost::Variant::kHalf,
                         .rows = {}};

// Rows of two features. The formula says 1 us, each takes four times as long.
TrainingRows RowsOf(const std::vector<Part>& parts,
                    std::vector<float> features) {
  TrainingRows rows;
  rows.features = std::move(features);
  rows.feature_count = 2;
  for (const Part part : parts) {
    rows.rows.push_back({.part = part,
                         .base_us = 1,
                         .log_time = std::log(4.0),
                         .counts = true});
  }
  return rows;
}

TEST(UncorrectedModelTest, RowsHeldOutDoNotWidenTheRanges) {
  const TrainingRows rows =
      RowsOf({Part::kFit, Part::kTest, Part::kFit, Part::kValidation},
             {3, 7, 2, 9, 4, 5, 8, 1});
  const cost::FittedModel model = UncorrectedModel(kProducts, rows);
  EXPECT_THAT(model.low, ElementsAre(3, 5));
  EXPECT_THAT(model.high, ElementsAre(4, 7));
  EXPECT_EQ(model.family, "gemm");
  EXPECT_EQ(model.variant, cost::Variant::kHalf);
}

TEST(UncorrectedModelTest, OnlyFitRowsThatCountShowWhatTheFormulaMisses) {
  TrainingRows rows =
      RowsOf({Part::kFit, Part::kFit, Part::kTest}, {1, 1, 1, 1, 1, 1});
  rows.rows.front().counts = false;
  EXPECT_THAT(FitResiduals(rows), ElementsAre(DoubleNear(2, 1e-9)));
}

}  // namespace
}  // namespace stepcast::learn
