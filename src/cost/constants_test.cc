#include "cost/constants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/shape.h"

namespace stepcast::cost {
namespace {

using ::testing::HasSubstr;

TEST(Constants, BuiltInValuesAreInTheirRange) {
  for (const ConstantInfo& info : ConstantInfos()) {
    EXPECT_LE(info.low, info.value) << info.name;
    EXPECT_GE(info.high, info.value) << info.name;
    EXPECT_FALSE(info.meaning.empty()) << info.name;
  }
}

TEST(Constants, ReadSetsByName) {
  Constants constants;
  const ConstantInfo& first = ConstantInfos().front();
  const std::string line =
      "\"" + std::string(first.name) + "\" = " + std::to_string(first.high);
  ASSERT_TRUE(constants.Read(line, "c.toml").has_value());
  EXPECT_NEAR(constants[first.id], first.high, 1e-6);
}

TEST(Constants, ReadRefusesUnknownNamesAndValues) {
  Constants constants;
  const auto unknown = constants.Read("nonsense = 1\n", "c.toml");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_THAT(unknown.error().message,
              HasSubstr("c.toml:1: unknown constant 'nonsense'"));
  const std::string line =
      "\"" + std::string(ConstantInfos().front().name) + "\" = -1.0";
  EXPECT_FALSE(constants.Read(line, "c.toml").has_value());
}

TEST(Carries, AreSharesAndRangesOfFamiliesThatThereAre) {
  for (const Carry& carry : Carries()) {
    EXPECT_TRUE(ir::ParseShape(carry.family)) << carry.family;
    EXPECT_EQ(&CarryOf(carry.family), &carry) << "twice: " << carry.family;
    EXPECT_GE(carry.share, 0) << carry.family;
    EXPECT_LE(carry.share, 1) << carry.family;
    EXPECT_LT(carry.log2_p10, 0) << carry.family;
    EXPECT_GT(carry.log2_p90, 0) << carry.family;
    EXPECT_GT(CarryByBandwidth().log2_p90, carry.log2_p90) << carry.family;
  }
  EXPECT_EQ(CarryOf("sort").family, "");
}

}  // namespace
}  // namespace stepcast::cost
