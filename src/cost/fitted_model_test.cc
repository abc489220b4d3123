#include "cost/fitted_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::cost {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

FittedModel SmallModel() {
  const std::vector<Tree> trees = {
      {{.feature = 1, .threshold = 2.5F, .left = 1, .right = 2},
       {.value = -0.25F},
       {.value = 0.5F}}};
  FittedModel model;
  model.family = "softmax";
  model.variant = Variant::kHalf;
  model.gpu = "a100-80gb";
  model.provenance = {"Fitted by: a test"};
  model.chosen = "trees_1";
  model.candidates = {{.name = "formula", .gmae_pct = 8},
                      {.name = "trees_1", .gmae_pct = 2}};
  model.offset = 0.125;
  model.forest = Forest::Make(trees, 2);
  model.fade_us = 2;
  model.spread = {
      .edges_us = {10}, .log2_p10 = {-0.2, -0.1}, .log2_p90 = {0.3, 0.1}};
  model.low = {0, 1};
  model.high = {5, 6};
  return model;
}

TEST(FittedModel, TextComesBackTheSame) {
  const std::string text = ModelText(SmallModel());
  EXPECT_THAT(text, HasSubstr("# Fitted by: a test\n"));
  const auto back = ParseModel(text, "softmax.half.model");
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_EQ(back->family, "softmax");
  EXPECT_EQ(back->variant, Variant::kHalf);
  EXPECT_EQ(back->chosen, "trees_1");
  EXPECT_EQ(back->fade_us, 2);
  EXPECT_THAT(back->spread.log2_p90, ElementsAre(0.3, 0.1));
  FittedModel again = *back;
  again.provenance = {"Fitted by: a test"};
  EXPECT_EQ(ModelText(again), text);
}

TEST(FittedModel, RefusesDamage) {
  const std::string text = ModelText(SmallModel());
  const auto damaged = [&](std::string_view from, std::string_view to) {
    std::string copy = text;
    copy.replace(copy.find(from), from.size(), to);
    const auto model = ParseModel(copy, "x.model");
    return model ? std::string("none") : model.error().message;
  };
  EXPECT_THAT(damaged("\n---\n", "\n"), HasSubstr("no line '---'"));
  EXPECT_THAT(damaged("\"half\"", "\"tiny\""),
              HasSubstr("unknown variant 'tiny'"));
  EXPECT_THAT(damaged("[10]", "[10, 20]"), HasSubstr("2 edges"));
  EXPECT_THAT(damaged("offset = 0.12500", "offset = nan"),
              HasSubstr("'offset' must be a number"));
  EXPECT_THAT(damaged("feature_low = [0, 1]", "feature_low = [0]"),
              HasSubstr("as long"));
  EXPECT_THAT(damaged("1:2.5", "7:2.5"),
              HasSubstr("not a split of 2 features"));
}

TEST(Spread, FindsTheBinOfATime) {
  const Spread spread = SmallModel().spread;
  EXPECT_EQ(spread.BinOf(3), 0u);
  EXPECT_EQ(spread.BinOf(10), 1u);
  EXPECT_EQ(spread.BinOf(1e9), 1u);
}

TEST(TrustOf, FadesForShortKernels) {
  const FittedModel model = SmallModel();
  EXPECT_LT(TrustOf(model, 0.1), 0.01);
  EXPECT_NEAR(TrustOf(model, 2), 0.5, 1e-9);
  EXPECT_GT(TrustOf(model, 100), 0.999);
}

TEST(VariantOf, FollowsTheType) {
  EXPECT_EQ(VariantOf(ir::Softmax{.dtype = ir::DType::kFp32}), Variant::kFull);
  EXPECT_EQ(VariantOf(ir::Softmax{.dtype = ir::DType::kBf16}), Variant::kHalf);
  EXPECT_EQ(VariantOf(ir::Softmax{.dtype = ir::DType::kInt8}), Variant::kOther);
  EXPECT_EQ(VariantOf(ir::Copy{}), Variant::kFull);
  EXPECT_EQ(VariantOf(ir::Gemm{.batch = 8, .dtype = ir::DType::kFp32}),
            Variant::kFullBatched);
}

}  // namespace
}  // namespace stepcast::cost
