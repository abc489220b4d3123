// Tests of counting oddities.
#include "base/diagnostics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr DiagnosticKind kOdd{.name = "odd", .what = "w", .advice = "a"};
constexpr DiagnosticKind kEven{.name = "even", .what = "x", .advice = "b"};

TEST(DiagnosticsTest, CountsEachKindAndKeepsTheFirstThreeExamples) {
  Diagnostics diagnostics;
  for (const char* where : {"1", "2", "3", "4"}) {
    diagnostics.Add(kOdd, where);
  }
  ASSERT_EQ(diagnostics.list().size(), 1);
  EXPECT_EQ(diagnostics.list()[0].count, 4);
  EXPECT_THAT(diagnostics.list()[0].examples, ElementsAre("1", "2", "3"));
}

TEST(DiagnosticsTest, AnEmptyPlaceIsCountedButNoExample) {
  Diagnostics diagnostics;
  diagnostics.Add(kOdd);
  diagnostics.Add(kOdd, "here", 10);
  EXPECT_EQ(diagnostics.count(kOdd), 11);
  EXPECT_THAT(diagnostics.list()[0].examples, ElementsAre("here"));
}

TEST(DiagnosticsTest, KindsKeepTheOrderOfFirstAppearance) {
  Diagnostics diagnostics;
  diagnostics.Add(kEven);
  diagnostics.Add(kOdd);
  diagnostics.Add(kEven);
  ASSERT_EQ(diagnostics.list().size(), 2);
  EXPECT_EQ(diagnostics.list()[0].kind.name, "even");
  EXPECT_EQ(diagnostics.list()[1].kind.name, "odd");
}

TEST(DiagnosticsTest, AddingNoneLeavesNoEntry) {
  Diagnostics diagnostics;
  diagnostics.Add(kOdd, "nowhere", 0);
  EXPECT_THAT(diagnostics.list(), IsEmpty());
  EXPECT_EQ(diagnostics.count(kOdd), 0);
}

TEST(DiagnosticsTest, MergeAddsCountsAndFillsUpExamples) {
  Diagnostics ours;
  ours.Add(kOdd, "a");
  ours.Add(kOdd, "b");
  Diagnostics theirs;
  theirs.Add(kEven, "x", 5);
  theirs.Add(kOdd, "c");
  theirs.Add(kOdd, "d");
  ours.Merge(theirs);
  EXPECT_EQ(ours.count(kOdd), 4);
  EXPECT_EQ(ours.count(kEven), 5);
  ASSERT_EQ(ours.list().size(), 2);
  EXPECT_THAT(ours.list()[0].examples, ElementsAre("a", "b", "c"));
  EXPECT_THAT(ours.list()[1].examples, ElementsAre("x"));
}

}  // namespace
}  // namespace stepcast
