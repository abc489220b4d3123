#include "fit/spreads.h"

#include <gtest/gtest.h>

namespace stepcast::fit {
namespace {

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

TEST(SpreadsOf, LeavesWhatOneChipTellsToTheOthers) {
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
}  // namespace stepcast::fit
