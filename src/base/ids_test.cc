// Tests of typed ids, ranges of them and vectors they open.
#include "base/ids.h"

#include <string>
#include <type_traits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast {
namespace {

using ::testing::ElementsAre;

struct AppleTag {};
struct PearTag {};
using AppleId = Id<AppleTag>;
using PearId = Id<PearTag>;

static_assert(!std::is_convertible_v<AppleId, PearId>);

TEST(IdTest, IsInvalidUntilGivenAValue) {
  EXPECT_FALSE(AppleId().valid());
  EXPECT_TRUE(AppleId{0}.valid());
  EXPECT_LT(AppleId{1}, AppleId{2});
}

TEST(IdRangeTest, IteratesFromFirstAndKnowsItsMembers) {
  const IdRange<AppleId> range{.first = 5, .count = 2};
  std::vector<uint32_t> values;
  for (const AppleId id : range) {
    values.push_back(id.value);
  }
  EXPECT_THAT(values, ElementsAre(5, 6));
  EXPECT_FALSE(range.contains(AppleId{4}));
  EXPECT_TRUE(range.contains(AppleId{6}));
  EXPECT_FALSE(range.contains(AppleId{7}));
  EXPECT_FALSE(range.contains(AppleId()));
}

TEST(IdVectorTest, AssignsDenseIds) {
  IdVector<AppleId, std::string> apples;
  EXPECT_EQ(apples.next_id(), AppleId{0});
  const AppleId first = apples.push_back("gala");
  const AppleId second = apples.push_back("fuji");
  EXPECT_EQ(first, AppleId{0});
  EXPECT_EQ(apples[second], "fuji");
  apples[first] = "cox";
  EXPECT_THAT(apples.items(), ElementsAre("cox", "fuji"));
  EXPECT_EQ(apples.ids(), (IdRange<AppleId>{.first = 0, .count = 2}));
}

TEST(IdVectorDeathTest, AnIdOutsideStopsTheProgram) {
  IdVector<AppleId, int> apples(3);
  EXPECT_DEATH(apples[AppleId{3}] = 1, "check failed.*3 of 3");
  EXPECT_DEATH(apples[AppleId()] = 1, "check failed");
}

}  // namespace
}  // namespace stepcast
