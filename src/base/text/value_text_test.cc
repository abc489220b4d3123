// Tests of parsing small values from JSON or Python text.
#include "base/text/value_text.h"

#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;
using Kind = Value::Kind;

TEST(ParseValueTest, ReadsATensorAsPyTorchWritesIt) {
  const auto value = ParseValue(R"([[5, 6, 0, 112, 4, "cuda:0"], true, 1.5])");
  ASSERT_TRUE(value);
  ASSERT_EQ(value->items.size(), 3);
  const Value& tensor = value->items[0];
  ASSERT_EQ(tensor.items.size(), 6);
  EXPECT_EQ(tensor.items[3].integer, 112);
  EXPECT_EQ(tensor.items[5].text, "cuda:0");
  EXPECT_EQ(value->items[1].kind, Kind::kBool);
  EXPECT_EQ(value->items[1].integer, 1);
  EXPECT_EQ(value->items[2].number, 1.5);
}

TEST(ParseValueTest, ReadsPythonsRepr) {
  const auto value =
      ParseValue(" (1, 'it\\'s', None, False, (2,), [], -3e2,) ");
  ASSERT_TRUE(value);
  ASSERT_EQ(value->items.size(), 7);
  EXPECT_EQ(value->items[1].text, "it\\'s");
  EXPECT_EQ(value->items[2].kind, Kind::kNone);
  EXPECT_EQ(value->items[3].integer, 0);
  EXPECT_EQ(value->items[4].items.size(), 1);
  EXPECT_TRUE(value->items[5].is_list());
  EXPECT_EQ(value->items[6].number, -300);
}

TEST(ParseValueTest, NumbersThatDoNotFitInt64AreFloats) {
  const auto value = ParseValue("[9223372036854775808, nan, inf, -inf]");
  ASSERT_TRUE(value);
  EXPECT_EQ(value->items[0].kind, Kind::kFloat);
  EXPECT_EQ(value->items[0].number, 9223372036854775808.0);
  EXPECT_TRUE(std::isnan(value->items[1].number));
  EXPECT_EQ(value->items[2].number, INFINITY);
  EXPECT_EQ(value->items[3].number, -INFINITY);
}

TEST(ParseValueTest, RefusesBrokenText) {
  for (const char* text :
       {"", " ", "[", "[1", "[1,,2]", "[,1]", "[1 2]", "1 2", "[1]]", "(1]",
        "\"open", "'\\", "word", "1x", "{}", "[1}", "--1"}) {
    EXPECT_FALSE(ParseValue(text)) << text;
  }
}

TEST(ParseValueTest, NestsSixteenDeepAndNoDeeper) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(ParseValue(nested(16)));
  EXPECT_FALSE(ParseValue(nested(17)));
  EXPECT_FALSE(ParseValue(nested(1'000'000)));
}

TEST(AsIntListTest, TakesOnlyListsOfWholeNumbers) {
  EXPECT_THAT(AsIntList(*ParseValue("[16, -1]")),
              Optional(ElementsAre(16, -1)));
  EXPECT_THAT(AsIntList(*ParseValue("[]")), Optional(ElementsAre()));
  EXPECT_FALSE(AsIntList(*ParseValue("[1, 2.0]")));
  EXPECT_FALSE(AsIntList(*ParseValue("[1, [2]]")));
  EXPECT_FALSE(AsIntList(*ParseValue("1")));
}

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
