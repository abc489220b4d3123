#include "whatif/change.h"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::whatif {
namespace {

using ::testing::HasSubstr;

Change Parsed(std::string_view text) {
  auto change = ParseChange(text);
  EXPECT_TRUE(change) << change.error().message;
  return change ? *std::move(change) : Change{};
}

TEST(ChangeTest, AChangeIsANameWithOrWithoutAValue) {
  EXPECT_EQ(Parsed("gpu=h100-sxm-80gb").kind->name, "gpu");
  EXPECT_EQ(Parsed("gpu=h100-sxm-80gb").value, "h100-sxm-80gb");
  EXPECT_EQ(Parsed("remove-sync").value, "");
  EXPECT_EQ(Parsed(" remove-sync aten::item ").value, "aten::item");
}

TEST(ChangeTest, AFactorFollowsAName) {
  for (const std::string_view text :
       {"scale-op=void f(int = 1)=0.5", "scale-op void f(int = 1) 0.5"}) {
    const auto named = ParseNamedFactor(Parsed(text));
    ASSERT_TRUE(named) << named.error().message;
    EXPECT_EQ(named->name, "void f(int = 1)");
    EXPECT_EQ(named->factor, 0.5);
  }
  const auto alone = ParseNamedFactor(Parsed("scale-overhead=2"));
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->name, "");
  EXPECT_EQ(alone->factor, 2);
}

TEST(ChangeTest, ErrorsSayWhatWasExpected) {
  EXPECT_THAT(ParseChange("gpuu=x").error().message,
              HasSubstr("unknown change 'gpuu'; did you mean gpu"));
  for (const std::string_view text :
       {"scale-op=aten::mm", "scale-op=aten::mm=-1", "scale-op=aten::mm=nan",
        "scale-op=aten::mm=1e9"}) {
    const auto named = ParseNamedFactor(Parsed(text));
    ASSERT_FALSE(named) << text;
    EXPECT_THAT(named.error().message, HasSubstr("expected scale-op=NAME="));
  }
  EXPECT_THAT(NoValue(Parsed("pin-copies=1")).error().message,
              HasSubstr("expected none"));
}

TEST(ChangeTest, EveryChangeDoesSomethingAndHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (const ChangeKind& kind : Changes()) {
    EXPECT_TRUE(kind.set != nullptr || kind.setting != nullptr ||
                kind.edit != nullptr)
        << kind.name;
    EXPECT_TRUE(kind.edit != nullptr || !kind.why_not_steps.empty())
        << kind.name;
    EXPECT_FALSE(kind.help.empty()) << kind.name;
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
  }
}

}  // namespace
}  // namespace stepcast::whatif
