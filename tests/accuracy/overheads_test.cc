// Overheads predict steps they were not fitted to. Skipped where the data is
// absent.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "learn/fit/overheads/held_out_overheads.h"
#include "trace/read/load.h"

namespace stepcast::accuracy {
namespace {

std::filesystem::path DataFolder() {
  return STEPCAST_SHARED_DATA;
}

// A run and how far the prediction of its steps from the other half may be
// off, in percent.
struct Run {
  std::string path;
  double mean_pct = 5;   // Of the mean step.
  double steps_pct = 5;  // On average over the steps.
};

class HeldOutStepsTest : public ::testing::TestWithParam<Run> {};

TEST_P(HeldOutStepsTest, ArePredictedFromTheOtherHalf) {
  const std::filesystem::path path = DataFolder() / "traces" / GetParam().path;
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << "no trace " << path;
  }
  const auto rules = trace::Rules::Load();
  ASSERT_TRUE(rules);
  const auto loaded = trace::Load({&path, 1}, *rules);
  ASSERT_TRUE(loaded) << loaded.error().message;
  Diagnostics diagnostics;
  const auto steps = learn::BuildStepGraphs(loaded->ranks, *rules, diagnostics);
  ASSERT_TRUE(steps) << steps.error().message;
  const auto held_out = learn::PredictHeldOut(*steps, {});
  ASSERT_TRUE(held_out) << held_out.error().message;
  double measured = 0;
  double predicted = 0;
  double errors = 0;
  for (const learn::HeldOutRank& row : held_out->rows) {
    measured += ToMicroseconds(row.measured);
    predicted += ToMicroseconds(row.predicted);
    errors += 100 * std::abs(ToMicroseconds(row.predicted) /
                                 ToMicroseconds(row.measured) -
                             1);
  }
  EXPECT_LT(100 * std::abs(predicted / measured - 1), GetParam().mean_pct);
  EXPECT_LT(errors / static_cast<double>(held_out->rows.size()),
            GetParam().steps_pct);
}

// The steps of the last two differ among themselves: the host of the first
// runs at two speeds, the second waits for its data.
INSTANTIATE_TEST_SUITE_P(
    Runs, HeldOutStepsTest,
    ::testing::Values(
        Run{.path = "dlrm_param_8xV100/kineto"},
        Run{.path = "dlrm_torchrec_4xV100/run3"},
        Run{.path = "dlrm_torchrec_4xV100/straggler_1s"},
        Run{.path = "dlrm_hta_V100_rank1of2"},
        Run{.path = "resnet50_hta_ddp_A100"},
        Run{.path = "resnet50_kineto_V100"},
        Run{.path = "linear_param_2080Ti/kineto.json.gz", .steps_pct = 10},
        Run{.path = "resnet18_param_2080Ti/kineto.json.gz", .steps_pct = 7}),
    [](const ::testing::TestParamInfo<Run>& run) {
      std::string name = run.param.path.substr(0, run.param.path.find('.'));
      std::ranges::replace(name, '/', '_');
      return name;
    });

}  // namespace
}  // namespace stepcast::accuracy
