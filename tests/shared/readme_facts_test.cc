// Recorded traces read as their README says: counts, times and names.
//
// The numbers were found by other programs than ours.
#include "tests/shared/readme_facts.h"

#include <algorithm>
#include <cctype>
#include <string>

#include <gtest/gtest.h>

#include "tests/shared/shared_traces.h"
#include "view/reports/doctor.h"

namespace stepcast::view {

void PrintTo(const ReadmeFact& fact, std::ostream* out) {
  *out << fact.path;
}

namespace {

// Half of the last digit of a time in the README, and some for the rounding of
// halves.
constexpr double kRounding = 0.0051;

std::string TestName(const std::string& path) {
  std::string name;
  for (const char c : path.substr(0, path.find(".json"))) {
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  return name;
}

class ReadmeFactsTest : public ::testing::TestWithParam<ReadmeFact> {
 protected:
  void SetUp() override {
    SkipWithoutTraces();
    if (IsSkipped()) {
      return;
    }
    report_ = Examine({GetParam().path});
    ASSERT_EQ(report_.ranks.size(), 1U);
    ASSERT_TRUE(report_.ranks[0].trace);
  }

  const RankReport& rank() const { return report_.ranks[0]; }
  const trace::TraceFacts& trace() const { return *report_.ranks[0].trace; }

  DoctorReport report_;
};

TEST_P(ReadmeFactsTest, CountsAreReproduced) {
  const ReadmeFact& fact = GetParam();
  EXPECT_EQ(trace().ops, fact.ops);
  EXPECT_EQ(trace().ops_with_shapes, fact.ops_with_shapes);
  EXPECT_EQ(trace().threads_with_ops, fact.threads);
  EXPECT_EQ(trace().runtime_calls, fact.runtime_calls);
  EXPECT_EQ(trace().kernels, fact.kernels);
  EXPECT_EQ(trace().copies, fact.copies);
  EXPECT_EQ(trace().streams, fact.streams);
  EXPECT_EQ(trace().orphans, fact.orphans);
}

TEST_P(ReadmeFactsTest, TimesAreReproduced) {
  const ReadmeFact& fact = GetParam();
  EXPECT_NEAR(ToMilliseconds(trace().busy), fact.busy_ms, kRounding);
  EXPECT_NEAR(ToMilliseconds(trace().span), fact.span_ms, kRounding);
  EXPECT_NEAR(ToMilliseconds(trace().collective_busy), fact.collectives_ms,
              kRounding);
  if (fact.steps_ms.empty()) {
    EXPECT_NE(trace().step_source, trace::StepSource::kMarked);
    return;
  }
  EXPECT_EQ(trace().step_source, trace::StepSource::kMarked);
  ASSERT_EQ(trace().steps.size(), fact.steps_ms.size());
  for (size_t i = 0; i < fact.steps_ms.size(); ++i) {
    EXPECT_NEAR(ToMilliseconds(trace().steps[i].duration), fact.steps_ms[i],
                kRounding);
  }
}

TEST_P(ReadmeFactsTest, TheJobAndItsGpuAreRecognised) {
  const ReadmeFact& fact = GetParam();
  EXPECT_EQ(rank().rank, std::max<int64_t>(0, fact.rank));
  EXPECT_EQ(rank().world_size.value_or(kNotGiven), fact.world);
  ASSERT_EQ(rank().devices.empty(), fact.gpu.empty());
  for (const trace::DeviceInfo& device : rank().devices) {
    EXPECT_EQ(device.name, fact.gpu);
  }
}

TEST_P(ReadmeFactsTest, WhatExternalIdMeansIsFound) {
  const trace::ExternalIds& ids = trace().external_ids;
  if (GetParam().linked_by_external_id == kCorrelation) {
    EXPECT_TRUE(ids.is_correlation);
  } else {
    EXPECT_FALSE(ids.is_correlation);
    EXPECT_EQ(ids.linked, GetParam().linked_by_external_id);
  }
}

// The goal: 99 % of GPU time with shapes, 97 % by kernel names alone.
TEST_P(ReadmeFactsTest, NearlyAllGpuTimeIsClassified) {
  const double goal = GetParam().ops_with_shapes > 0 ? 0.99 : 0.97;
  EXPECT_GE(rank().coverage.classified_share(), goal);
}

INSTANTIATE_TEST_SUITE_P(Traces, ReadmeFactsTest, ::testing::ValuesIn(kFacts),
                         [](const auto& test) {
                           return TestName(test.param.path);
                         });

}  // namespace
}  // namespace stepcast::view
