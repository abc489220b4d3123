#include "trace/inspect/coverage.h"

#include <gtest/gtest.h>

namespace stepcast::trace {
namespace {

using std::chrono::microseconds;

const ir::KernelShape kSizedGemm =
    ir::Gemm{.batch = 1, .m = 2, .n = 3, .k = 4, .dtype = ir::DType::kFp32};
const ir::KernelShape kGemm = ir::Gemm{};
const ir::KernelShape kOpaque = ir::Opaque{};

TEST(CoverageTest, SharesAreOfTheTimeNotOfTheCount) {
  const TimedShape activities[] = {
      {.name = "sgemm", .shape = &kSizedGemm, .time = microseconds(60)},
      {.name = "sgemm", .shape = &kGemm, .time = microseconds(30)},
      {.name = "mystery", .shape = &kOpaque, .time = microseconds(10)}};

  const Coverage coverage = FindCoverage(activities);

  EXPECT_EQ(coverage.time, microseconds(100));
  EXPECT_DOUBLE_EQ(coverage.classified_share(), 0.9);
  EXPECT_DOUBLE_EQ(coverage.sized_share(), 0.6);
}

TEST(CoverageTest, FamiliesAndUnknownNamesComeLongestFirst) {
  const TimedShape activities[] = {
      {.name = "b", .shape = &kOpaque, .time = microseconds(1)},
      {.name = "a", .shape = &kOpaque, .time = microseconds(1)},
      {.name = "c", .shape = &kOpaque, .time = microseconds(5)},
      {.name = "sgemm", .shape = &kGemm, .time = microseconds(4)}};

  const Coverage coverage = FindCoverage(activities);

  ASSERT_EQ(coverage.families.size(), 2U);
  EXPECT_EQ(coverage.families[0].family, "opaque");
  EXPECT_EQ(coverage.families[0].count, 3);
  EXPECT_EQ(coverage.families[1].family, "gemm");
  ASSERT_EQ(coverage.unknown.size(), 3U);
  EXPECT_EQ(coverage.unknown[0].name, "c");
  EXPECT_EQ(coverage.unknown[1].name, "a");  // Equal times: by name.
  EXPECT_EQ(coverage.unknown[2].name, "b");
}

TEST(CoverageTest, ActivitiesWithoutTimesCountByNumber) {
  const TimedShape activities[] = {{.name = "sgemm", .shape = &kSizedGemm},
                                   {.name = "mystery", .shape = &kOpaque}};

  EXPECT_DOUBLE_EQ(FindCoverage(activities).classified_share(), 0.5);
  EXPECT_DOUBLE_EQ(FindCoverage({}).classified_share(), 1.0);
}

TEST(CoverageTest, MergingEqualsLookingAtBothAtOnce) {
  const TimedShape activities[] = {
      {.name = "sgemm", .shape = &kSizedGemm, .time = microseconds(60)},
      {.name = "mystery", .shape = &kOpaque, .time = microseconds(10)},
      {.name = "sgemm", .shape = &kGemm, .time = microseconds(30)},
      {.name = "mystery", .shape = &kOpaque, .time = microseconds(5)}};
  const std::span<const TimedShape> all(activities);

  const Coverage merged =
      Merged(FindCoverage(all.first(2)), FindCoverage(all.last(2)));
  const Coverage whole = FindCoverage(all);

  EXPECT_EQ(merged.activities, whole.activities);
  EXPECT_EQ(merged.time, whole.time);
  EXPECT_EQ(merged.sized_share(), whole.sized_share());
  EXPECT_EQ(merged.classified_share(), whole.classified_share());
  ASSERT_EQ(merged.families.size(), whole.families.size());
  EXPECT_EQ(merged.families[0].time, whole.families[0].time);
  ASSERT_EQ(merged.unknown.size(), 1U);
  EXPECT_EQ(merged.unknown[0].count, 2);
}

}  // namespace
}  // namespace stepcast::trace
