#include "learn/fit/lin2022_mlp.h"

#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"

namespace stepcast::learn {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::IsEmpty;

TEST(Lin2022MlpTest, SeesTheNaturalLogarithmsOfAProductsSizes) {
  const ir::Gemm gemm{.batch = 1, .m = 2048, .n = 512, .k = 13};
  EXPECT_THAT(Lin2022Inputs(gemm), ElementsAre(0.0F, FloatNear(7.6246F, 1e-4F),
                                               FloatNear(6.2383F, 1e-4F),
                                               FloatNear(2.5649F, 1e-4F)));
}

TEST(Lin2022MlpTest, SeesThePaddedImageAndTheWindowOfAConvolution) {
  const ir::Convolution conv{.batch = 1,
                             .in_channels = 1,
                             .height = 6,
                             .width = 6,
                             .out_channels = 1,
                             .kernel_height = 3,
                             .kernel_width = 5,
                             .stride = 2,
                             .padding = 1};
  // ln (6 + 2 x 1) = 2.0794.
  EXPECT_THAT(Lin2022Inputs(conv),
              ElementsAre(0, FloatNear(2.0794F, 1e-4F), 0, 0, 2, 3, 5, 0, 0));
}

TEST(Lin2022MlpTest, HasNoInputsForFamiliesThePapersPriceByFormula) {
  EXPECT_THAT(Lin2022Inputs(ir::EmbeddingBag{}), IsEmpty());
  EXPECT_THAT(Lin2022Inputs(ir::Copy{}), IsEmpty());
}

// Products on a GPU that does 1e7 flop/us and never takes less than 5 us.
struct Products {
  std::vector<KernelRow> kernel_rows;
  TrainingRows rows;
};

Products MakeProducts(size_t count) {
  Rng rng(1);
  Products products;
  products.kernel_rows.resize(count);
  for (KernelRow& row : products.kernel_rows) {
    const ir::Gemm gemm{.batch = rng.Between(1, 8),
                        .m = rng.Between(16, 2048),
                        .n = rng.Between(16, 2048),
                        .k = rng.Between(16, 2048)};
    row.shape = gemm;
    row.time_us =
        5 + 2e-7 * static_cast<double>(gemm.batch * gemm.m * gemm.n * gemm.k);
    products.rows.rows.push_back({.row = &row,
                                  .part = PartOf(row.shape),
                                  .log_time = std::log(row.time_us),
                                  .counts = true});
  }
  return products;
}

constexpr double kQuickVisits = 4e4;

TEST(Lin2022MlpTest, PredictsProductsItWasNotFittedTo) {
  const Products products = MakeProducts(1000);
  const auto model =
      Lin2022Mlp::Train(products.rows, {.widths = {32},
                                        .rates = {5e-3},
                                        .layers = 2,
                                        .batch = 8,
                                        .most_visits = kQuickVisits});
  ASSERT_TRUE(model.has_value());
  const ErrorSummary errors = model->Errors(products.rows, Part::kTest);
  EXPECT_GT(errors.n, 50);
  EXPECT_LT(errors.gmae_pct, 4);
}

TEST(Lin2022MlpTest, ChoosesTheNetworkThatIsBestOnTheValidationPart) {
  const Products products = MakeProducts(500);
  // A rate so small that nothing is learned, before and after a good one.
  const auto model =
      Lin2022Mlp::Train(products.rows, {.widths = {16},
                                        .rates = {1e-9, 5e-3, 1e-9},
                                        .most_visits = kQuickVisits / 4});
  ASSERT_TRUE(model.has_value());
  EXPECT_EQ(model->options().rate, 5e-3);
}

TEST(Lin2022MlpTest, SeesSmallSetsMoreOftenThanLargeOnes) {
  const Products products = MakeProducts(200);
  size_t fit_rows = 0;
  for (const TrainingRow& row : products.rows.rows) {
    fit_rows += row.part == Part::kFit ? 1 : 0;
  }
  Lin2022Grid grid{.widths = {16}, .rates = {1e-3}, .most_epochs = 7};
  auto model = Lin2022Mlp::Train(products.rows, grid);
  ASSERT_TRUE(model.has_value());
  EXPECT_EQ(model->options().epochs, 7);
  grid.most_visits = 3.5 * static_cast<double>(fit_rows);
  model = Lin2022Mlp::Train(products.rows, grid);
  ASSERT_TRUE(model.has_value());
  EXPECT_EQ(model->options().epochs, 3);
}

TEST(Lin2022MlpTest, NeedsRowsToFitAndRowsToChooseBy) {
  Products products = MakeProducts(100);
  EXPECT_FALSE(Lin2022Mlp::Train(TrainingRows{}).has_value());
  for (TrainingRow& row : products.rows.rows) {
    row.counts = false;
  }
  EXPECT_FALSE(
      Lin2022Mlp::Train(products.rows,
                        {.widths = {16}, .rates = {1e-3}, .most_epochs = 1})
          .has_value());
}

}  // namespace
}  // namespace stepcast::learn
