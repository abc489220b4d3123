// Collective models against measured collectives and those of recorded traces.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cost/collectives/collective_models.h"
#include "hw/cluster.h"
#include "learn/fit/fit_collectives.h"
#include "learn/judge/collective_accuracy.h"
#include "learn/measured/collective_rows.h"
#include "tests/shared/shared_traces.h"
#include "trace/build/build_graph.h"
#include "view/reports/doctor.h"

namespace stepcast::learn {
namespace {

std::filesystem::path RowFolder() {
  return std::filesystem::path(STEPCAST_SHARED_DATA) / "kernels" / "collective";
}

class MeasuredCollectives : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(RowFolder())) {
      GTEST_SKIP() << "no measurements in " << RowFolder();
    }
    const std::vector<std::filesystem::path> paths = {RowFolder()};
    auto rows = ReadCollectiveRows(paths);
    ASSERT_TRUE(rows.has_value()) << rows.error().message;
    rows_ = *std::move(rows);
  }

  CollectiveRows rows_;
};

TEST_F(MeasuredCollectives, EveryRowIsRead) {
  EXPECT_TRUE(rows_.skipped.empty());
  EXPECT_GT(rows_.rows.size(), 17000u);
}

TEST_F(MeasuredCollectives, SizesThatNoFitSawAreWithinFivePercent) {
  const auto accuracy =
      EvaluateCollectives(rows_, cost::CollectiveStore(), {}, Part::kTest);
  ASSERT_TRUE(accuracy.has_value()) << accuracy.error().message;
  for (const CollectiveLine& line : accuracy->totals) {
    SCOPED_TRACE(line.kind);
    EXPECT_LE(line.ours.gmae_pct, 5);
    // Intervals should hold four of five; times of send/receive are integer
    // microseconds, too coarse for most sizes.
    if (line.ours.n >= 50) {
      EXPECT_GE(line.in_interval, 0.65);
    }
  }
}

TEST_F(MeasuredCollectives, SystemsThatNoFitSawAreWithinTwentyPercent) {
  const auto table = LeaveOutCollectives(rows_, {}, 2);
  ASSERT_TRUE(table.has_value()) << table.error().message;
  for (const CollectiveLeaveOutLine& line : table->totals) {
    SCOPED_TRACE(line.kind);
    // A message between two is measured on five systems only, one of them at a
    // fourteenth of its bridge.
    EXPECT_LE(line.errors.gmae_pct,
              line.kind == "send_recv" && !line.over_network ? 30 : 20);
  }
}

// What is built in is what fitting gives.
TEST_F(MeasuredCollectives, FittingAgainGivesWhatIsBuiltIn) {
  const auto fitted = FitCollectives(rows_, {}, 2);
  ASSERT_TRUE(fitted.has_value()) << fitted.error().message;
  auto built_in = cost::CollectiveStore().LoadConstants();
  ASSERT_TRUE(built_in.has_value()) << built_in.error().message;
  cost::CollectiveConstants constants = fitted->constants;
  for (const auto& info : cost::CollectiveConstantInfos()) {
    const double value = *info.place(constants);
    EXPECT_NEAR(*info.place(*built_in), value, 0.02 * std::abs(value) + 1e-4)
        << info.key;
  }
}

cost::CollectiveModels ModelsOf(const char* platform, int gpus) {
  const auto cluster = hw::FindCluster(platform, gpus, 1);
  EXPECT_TRUE(cluster.has_value()) << cluster.error().message;
  auto models = cost::CollectiveModels::Load(*cluster, cost::CollectiveStore());
  EXPECT_TRUE(models.has_value()) << models.error().message;
  return *std::move(models);
}

struct Timed {
  double predicted_us = 0;
  double own_us = 0;
};

// The matched collectives of a graph whose sizes are known, in order.
std::vector<Timed> PriceMatched(const ir::Graph& graph,
                                const cost::CollectiveModels& models) {
  std::vector<Timed> list;
  for (const ir::MatchedCollective& matched : graph.data().collectives) {
    std::vector<ir::Collective> parts;
    Duration last_start = Duration::min();
    Duration last_end = Duration::min();
    for (const ir::ActivityId id : matched.activities) {
      const ir::Activity& activity = graph.data().activities[id];
      const ir::Rank& rank =
          graph.data().ranks[graph.data().streams[activity.stream].rank];
      const Duration start = *rank.step->start + *activity.measured->start;
      last_start = std::max(last_start, start);
      last_end = std::max(last_end, start + activity.measured->duration);
      parts.push_back(
          std::get<ir::Collective>(graph.data().shapes[activity.shape]));
    }
    if (const auto estimate = models.Price(parts, 1)) {
      list.push_back({.predicted_us = estimate->p50_us,
                      .own_us = ToMicroseconds(last_end - last_start)});
    }
  }
  return list;
}

TEST(TracedCollectives, TheEightOfAStepOnEightV100s) {
  view::SkipWithoutTraces();
  if (IsSkipped()) {
    return;
  }
  const trace::Loaded loaded =
      view::LoadTraces({"dlrm_param_8xV100/kineto", "dlrm_param_8xV100/et"});
  Diagnostics diagnostics;
  const auto graph =
      trace::BuildGraph(loaded.ranks, view::BuiltInRules(), {}, diagnostics);
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  const std::vector<Timed> list =
      PriceMatched(*graph, ModelsOf("dgx-1-v100", 8));
  ASSERT_EQ(list.size(), 8u);
  double predicted = 0;
  double own = 0;
  for (const Timed& timed : list) {
    fmt::print("  own {:6.1f} us, predicted {:6.1f} us, {:+5.1f} %\n",
               timed.own_us, timed.predicted_us,
               100 * (timed.predicted_us / timed.own_us - 1));
    EXPECT_NEAR(timed.predicted_us, timed.own_us, 0.3 * timed.own_us);
    predicted += timed.predicted_us;
    own += timed.own_us;
  }
  fmt::print("  sum {:6.1f} us, predicted {:6.1f} us, {:+5.1f} %\n", own,
             predicted, 100 * (predicted / own - 1));
  EXPECT_NEAR(predicted, own, 0.1 * own);
}

// 64 tables of 1024 columns in FP32, a batch of 4096 a rank: every rank sends
// 16 tables' vectors of 16384 samples, a quarter of them to itself. Traces
// without shapes: the times are of the long exchanges of each step.
TEST(TracedCollectives, TheLongExchangesOfFourV100s) {
  view::SkipWithoutTraces();
  if (IsSkipped()) {
    return;
  }
  const ir::Collective part{.kind = ir::CollectiveKind::kAllToAll,
                            .bytes = {int64_t{16} * 16384 * 1024 * 4},
                            .dtype = ir::DType::kFp32};
  const auto estimate =
      ModelsOf("4xv100", 4).Price(part, cost::RankGroup{.ranks = 4});
  ASSERT_TRUE(estimate.has_value());
  const trace::Loaded loaded = view::LoadTraces({"dlrm_torchrec_4xV100/run3"});
  Diagnostics diagnostics;
  const auto graph =
      trace::BuildGraph(loaded.ranks, view::BuiltInRules(), {}, diagnostics);
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  int found = 0;
  for (const view::CollectiveFacts& facts : view::FindCollectiveFacts(*graph)) {
    const double own = ToMicroseconds(facts.own);
    if (facts.kind == ir::CollectiveKind::kAllToAll && own > 5000) {
      fmt::print("  own {:.2f} ms, predicted {:.2f} ms, {:+.1f} %\n", own / 1e3,
                 estimate->p50_us / 1e3, 100 * (estimate->p50_us / own - 1));
      EXPECT_NEAR(estimate->p50_us, own, 0.15 * own);
      ++found;
    }
  }
  EXPECT_EQ(found, 2);  // Forward and backward of the step.
}

}  // namespace
}  // namespace stepcast::learn
