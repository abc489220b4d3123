#include "explore/evaluate.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explore/read_study.h"
#include "explore/study.h"

namespace stepcast::explore {
namespace {

using ::testing::HasSubstr;

// The first row of a study with these settings.
Row Evaluated(const std::string& settings, uint32_t samples = 0) {
  const auto study =
      ParseStudy("model = \"fleet_sweep\"\n[base]\n" + settings, "s.toml");
  EXPECT_TRUE(study.has_value()) << study.error().message;
  const auto checked = CheckRows(*study);
  EXPECT_TRUE(checked.has_value()) << checked.error().message;
  return Evaluator({.samples = samples})
      .Evaluate(Designer(*study).SettingsOf(0));
}

constexpr const char* kBigBasin =
    "platform = \"big-basin\"\ngpus = 8\nimpl = \"torchrec\"\nbatch = 1600\n";

TEST(EvaluateTest, TheBreakdownSumsToTheStep) {
  const Row row = Evaluated(kBigBasin);
  double sum = 0;
  for (auto i = static_cast<size_t>(Number::kGemmUs);
       i <= static_cast<size_t>(Number::kIdleWaitUs); ++i) {
    sum += row.numbers[i];
  }
  EXPECT_NEAR(sum, row.at(Number::kStepUs), 1e-3 * sum);
  EXPECT_DOUBLE_EQ(row.at(Number::kSamplesPerS),
                   8 * 1600 / (row.at(Number::kStepUs) * 1e-6));
  EXPECT_DOUBLE_EQ(row.at(Number::kSamplesPerJoule),
                   row.at(Number::kSamplesPerS) / row.at(Number::kPowerW));
}

TEST(EvaluateTest, IntervalsAreSampledWhereAskedFor) {
  EXPECT_TRUE(std::isnan(Evaluated(kBigBasin).at(Number::kP10Us)));
  const Row row = Evaluated(kBigBasin, 50);
  EXPECT_LT(row.at(Number::kP10Us), row.at(Number::kStepUs));
  EXPECT_GT(row.at(Number::kP90Us), row.at(Number::kStepUs));
}

TEST(EvaluateTest, ServersThatDoNotKeepUpMakeStepsLonger) {
  const std::string remote =
      std::string(kBigBasin) +
      "placement = \"remote\"\nserver = \"2s-skylake\"\n";
  const Row many = Evaluated(remote + "sparse_servers = 64\n");
  const Row one = Evaluated(remote +
                            "sparse_servers = 1\nserver_nic_gbs = "
                            "0.125\n");
  EXPECT_EQ(many.bound_by, "copies");
  EXPECT_EQ(one.bound_by, "sparse network");
  EXPECT_GT(one.at(Number::kStepUs), 2 * many.at(Number::kStepUs));
  EXPECT_NEAR(one.at(Number::kSparseNetwork), 1, 1e-9);
  EXPECT_LT(many.at(Number::kSparseNetwork), 0.1);
  // 64 servers and the Big Basin take more power than one and it.
  EXPECT_GT(many.at(Number::kPowerW), one.at(Number::kPowerW));
}

TEST(EvaluateTest, TablesThatServersCannotHoldDoNotFit) {
  const Row row = Evaluated(std::string(kBigBasin) +
                            "placement = \"remote\"\nserver = \"2s-skylake\"\n"
                            "sparse_servers = 1\nrows = 100_000_000\n");
  EXPECT_FALSE(row.fits());
  EXPECT_THAT(row.note, HasSubstr("on 1 servers of 256 GB"));
  EXPECT_TRUE(std::isnan(row.at(Number::kSamplesPerS)));
}

TEST(EvaluateTest, TrainersAreAFleet) {
  const std::string fleet =
      "server = \"2s-skylake\"\ntrainers = 2\nsparse_servers = 2\n"
      "dense_servers = 1\nbatch = 200\n";
  const Row row = Evaluated(fleet, 50);
  EXPECT_TRUE(row.fits());
  EXPECT_GT(row.at(Number::kSamplesPerS), 0);
  EXPECT_LE(row.at(Number::kTrainerCpu), 1);
  EXPECT_GT(row.at(Number::kServersGb), 0);
  EXPECT_LT(row.at(Number::kP10Us), row.at(Number::kStepUs));
  EXPECT_TRUE(std::isnan(row.at(Number::kGpuActive)));
  const Row large = Evaluated(fleet + "rows = 1_000_000_000\n");
  EXPECT_FALSE(large.fits());
  EXPECT_THAT(large.note, HasSubstr("on a sparse server of 256 GB"));
}

TEST(EvaluateTest, ServersWithoutTrainersTrainInStep) {
  const Row row = Evaluated("server = \"2s-epyc-7742\"\n");
  EXPECT_TRUE(row.fits()) << row.note;
  EXPECT_GT(row.at(Number::kSamplesPerS), 0);
  EXPECT_GT(row.at(Number::kPowerW), 0);
}

TEST(EvaluateTest, WhatAnImplementationDoesNotDoIsARowThatSaysSo) {
  const Row row = Evaluated(
      "gpu = \"v100-sxm-32gb\"\nimpl = \"nvidia\"\n"
      "placement = \"host\"\n");
  EXPECT_THAT(row.note, HasSubstr("cannot run: "));
  EXPECT_TRUE(std::isnan(row.at(Number::kFits)));
}

}  // namespace
}  // namespace stepcast::explore
