#include "base/quantity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast {
namespace {

std::string ErrorOfQuantity(std::string_view text, std::string_view unit) {
  const auto number = ParseQuantity(text, unit);
  return number ? "none" : number.error().message;
}

TEST(QuantityTest, ANumberAloneIsInTheUnit) {
  EXPECT_EQ(ParseQuantity("1500", "us").value_or(0), 1500);
  EXPECT_EQ(ParseQuantity("+3%", "%").value_or(0), 3);
  EXPECT_EQ(ParseQuantity("-2.5e1", "").value_or(0), -25);
  EXPECT_EQ(ParseQuantity("12 samples", "samples").value_or(0), 12);
}

TEST(QuantityTest, OtherUnitsOfTheSameKindAreConverted) {
  EXPECT_DOUBLE_EQ(ParseQuantity("2ms", "us").value_or(0), 2000);
  EXPECT_DOUBLE_EQ(ParseQuantity("0.5 s", "us").value_or(0), 500'000);
  EXPECT_DOUBLE_EQ(ParseQuantity("500MB", "GB").value_or(0), 0.5);
  EXPECT_DOUBLE_EQ(ParseQuantity("1GiB", "GB").value_or(0), 1.073741824);
  EXPECT_DOUBLE_EQ(ParseQuantity("3.35TB/s", "GB/s").value_or(0), 3350);
  EXPECT_DOUBLE_EQ(ParseQuantity("400Gb/s", "GB/s").value_or(0), 50);
  EXPECT_DOUBLE_EQ(ParseQuantity("400 Gbps", "GB/s").value_or(0), 50);
  EXPECT_DOUBLE_EQ(ParseQuantity("400 GB/s", "Gb/s").value_or(0), 3200);
  EXPECT_DOUBLE_EQ(ParseQuantity("1.2kW", "W").value_or(0), 1200);
  EXPECT_DOUBLE_EQ(ParseQuantity("80%", "").value_or(0), 0.8);
}

TEST(QuantityTest, OtherKindsAndWordsAreRefused) {
  EXPECT_EQ(ErrorOfQuantity("2GB", "us"),
            "'2GB' is not a number of us, or of ns, ms, s");
  EXPECT_EQ(ErrorOfQuantity("fast", "W"),
            "'fast' is not a number of W, or of kW, MW");
  EXPECT_EQ(ErrorOfQuantity("3ms", ""), "'3ms' is not a number");
  EXPECT_EQ(ErrorOfQuantity("", ""), "'' is not a number");
  EXPECT_EQ(ErrorOfQuantity("inf", ""), "'inf' is not a number");
  EXPECT_EQ(ErrorOfQuantity("5 dogs", "1/s"),
            "'5 dogs' is not a number of 1/s");
}

TEST(QuantityTest, KnowsItsUnits) {
  EXPECT_TRUE(IsUnit("ms"));
  EXPECT_FALSE(IsUnit("and"));
  EXPECT_FALSE(IsUnit(""));
}

}  // namespace
}  // namespace stepcast
