// Overheads predict steps they were not fitted to, and the papers' walk gives
// what its authors printed. Skipped where the data is absent.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/files/file.h"
#include "learn/fit/authors_overheads.h"
#include "learn/fit/held_out_overheads.h"
#include "learn/measured/authors_trace.h"
#include "learn/measured/csv.h"
#include "timeline/lin_walk.h"
#include "trace/read/load.h"

namespace stepcast::accuracy {
namespace {

using learn::CsvTable;

std::filesystem::path DataFolder() {
  return STEPCAST_SHARED_DATA;
}

CsvTable LoadTable(const std::string& name) {
  auto text = ReadFile(DataFolder() / "authors" / name);
  EXPECT_TRUE(text) << text.error().message;
  auto table = CsvTable::Parse(*std::move(text), name);
  EXPECT_TRUE(table) << table.error().message;
  return *std::move(table);
}

class AuthorsWalkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(DataFolder() / "authors")) {
      GTEST_SKIP() << "no published tables in " << DataFolder();
    }
  }
};

// The launches of an op by the name of their calls: copies go by
// cudaMemcpyAsync, and the second launch of SliceBackward is one.
std::vector<std::string> LaunchesOf(std::string_view op, size_t count) {
  std::vector<std::string> launches(
      count, op == "aten::to" ? "cudaMemcpyAsync" : "cudaLaunchKernel");
  if (op == "SliceBackward" && count > 1) {
    launches[1] = "cudaMemcpyAsync";
  }
  return launches;
}

// T4 is a mean over all kernels of the trace.
int64_t KernelsOfTrace() {
  const CsvTable table =
      LoadTable("trace_v100_2021-05-04_DLRM_default_b2048_kernels.csv");
  const auto rows = learn::ReadAuthorsTrace(table);
  EXPECT_TRUE(rows) << rows.error().message;
  int64_t kernels = 0;
  for (const learn::AuthorsRow& row : *rows) {
    kernels += row.kernel.starts_with("Mem") ? 0 : row.kernel_count;
  }
  return kernels;
}

TEST_F(AuthorsWalkTest, GivesTheHostClockTheyPrintedAfterEachOp) {
  std::vector<CsvTable> tables;
  tables.push_back(
      LoadTable("overheads_v100_2021-05-04_DLRM_default_2048.csv"));
  const auto data = learn::ReadAuthorsOverheads(
      tables, {.name = "2021", .launches = KernelsOfTrace()});
  ASSERT_TRUE(data) << data.error().message;
  const cost::OverheadTable table(*data);
  const CsvTable printed =
      LoadTable("e2e_walk_testvector_2021-05-04_DLRM_default_b2048.csv");
  const std::vector<std::string_view> columns = {
      "op", "launches", "authors_cpu_clock_us_after_op"};
  const auto at = printed.FindColumns(columns);
  ASSERT_TRUE(at) << at.error().message;
  std::vector<timeline::LinOp> ops;
  for (size_t row = 0; row < printed.row_count(); ++row) {
    timeline::LinOp op{.name = std::string(printed.row(row)[(*at)[0]])};
    const auto launches = learn::CellInt(printed.row(row)[(*at)[1]]);
    ASSERT_TRUE(launches);
    op.launches = LaunchesOf(op.name, static_cast<size_t>(*launches));
    ops.push_back(std::move(op));
  }
  ASSERT_EQ(ops.size(), 115);
  const timeline::LinResult result = timeline::LinWalk(
      ops, timeline::LinOverheads(table), timeline::LinVariant::k2021);
  for (size_t i = 0; i < ops.size(); ++i) {
    const auto clock = learn::CellNumber(printed.row(i)[(*at)[2]]);
    ASSERT_TRUE(clock);
    EXPECT_NEAR(result.clocks_us[i], *clock, 1e-6) << i << " " << ops[i].name;
  }
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
