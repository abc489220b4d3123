// What the built-in studies show: the trends and findings of Acun et al. (HPCA
// 2021), as far as they are remembered.
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explore/read_study.h"
#include "explore/row.h"
#include "explore/run_study.h"
#include "explore/select_rows.h"

namespace stepcast::explore {
namespace {

using ::testing::HasSubstr;

// A built-in study without intervals; each is run once.
const Explored& Explore(const std::string& name) {
  static std::map<std::string, Explored> explored;
  const auto [found, is_new] = explored.try_emplace(name);
  if (is_new) {
    auto study = FindStudy(name);
    EXPECT_TRUE(study.has_value()) << study.error().message;
    study->samples = 0;
    auto rows = RunStudy(*study, {});
    EXPECT_TRUE(rows.has_value()) << rows.error().message;
    found->second = {.study = *std::move(study), .rows = *std::move(rows)};
  }
  return found->second;
}

// The only row for which the condition holds.
const Row& RowOf(const std::string& study, const std::string& where) {
  const Explored& explored = Explore(study);
  const auto rows = SelectRows(explored, {.where = where});
  EXPECT_TRUE(rows.has_value()) << rows.error().message;
  EXPECT_EQ(rows->size(), 1u) << where;
  return explored.rows[static_cast<size_t>(rows->front())];
}

double Throughput(const std::string& study, const std::string& where) {
  return RowOf(study, where).at(Number::kSamplesPerS);
}

// Big Basin over the CPU trainer.
double Ratio(const std::string& study, const std::string& where) {
  return Throughput(study, "point = big-basin and " + where) /
         Throughput(study, "point = cpu and " + where);
}

TEST(StudiesTest, EveryBuiltInStudyIsSane) {
  const auto names = StudyNames();
  EXPECT_THAT(names, ::testing::IsSupersetOf(
                         {"batch_sweep", "feature_sweep", "hash_size_sweep",
                          "mlp_sweep", "placement_by_platform",
                          "production_models", "production_models_2026"}));
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const auto study = FindStudy(name);
    ASSERT_TRUE(study.has_value()) << study.error().message;
    EXPECT_FALSE(study->title.empty());
    EXPECT_FALSE(study->source.empty());
    EXPECT_FALSE(study->sensitivities.empty());
    const auto checked = CheckRows(*study);
    EXPECT_TRUE(checked.has_value()) << checked.error().message;
    for (const Row& row : Explore(name).rows) {
      EXPECT_THAT(row.note, ::testing::Not(HasSubstr("cannot run")));
      EXPECT_EQ(row.fits(), !std::isnan(row.at(Number::kSamplesPerS)));
      EXPECT_FALSE(std::isnan(row.at(Number::kPowerW)));
    }
  }
}

TEST(FeatureSweepTest, GpusGainOnCpusWithDenseFeatures) {
  for (const char* sparse : {"4", "16", "32", "64", "128"}) {
    SCOPED_TRACE(sparse);
    double before = 0;
    for (const char* dense : {"64", "256", "1024", "4096"}) {
      const double ratio =
          Ratio("feature_sweep", std::string("dense_features = ") + dense +
                                     " and sparse_features = " + sparse);
      EXPECT_GT(ratio, before) << dense;
      before = ratio;
    }
  }
}

TEST(FeatureSweepTest, SparseFeaturesCostGpusMoreThanDenseOnes) {
  const auto throughput = [](const char* dense, const char* sparse) {
    return Throughput("feature_sweep",
                      std::string("point = big-basin and dense_features = ") +
                          dense + " and sparse_features = " + sparse);
  };
  // Four times the sparse features cost more than sixteen times the dense
  // ones, from where the GPU is busy.
  const double dense_cost = throughput("256", "32") / throughput("4096", "32");
  const double sparse_cost = throughput("256", "32") / throughput("256", "128");
  EXPECT_GT(dense_cost, 1);
  EXPECT_GT(sparse_cost, 1.5 * dense_cost);
}

TEST(MlpSweepTest, GpusGainOnCpusWithWidthAndDepth) {
  double before = 0;
  for (const char* width : {"64", "128", "256", "512", "1024"}) {
    const double ratio = Ratio(
        "mlp_sweep", std::string("mlp_depth = 3 and mlp_width = ") + width);
    EXPECT_GT(ratio, before * 0.99) << width;
    before = ratio;
  }
  EXPECT_GT(Ratio("mlp_sweep", "mlp_depth = 3 and mlp_width = 2048"),
            2 * Ratio("mlp_sweep", "mlp_depth = 3 and mlp_width = 64"));
  EXPECT_GT(Ratio("mlp_sweep", "mlp_depth = 4 and mlp_width = 1024"),
            Ratio("mlp_sweep", "mlp_depth = 2 and mlp_width = 1024"));
}

TEST(MlpSweepTest, WideningHurtsCpusMuchEarlierThanGpus) {
  const auto kept = [](const char* point, const char* width) {
    const std::string of =
        std::string("point = ") + point + " and mlp_depth = 3 and mlp_width = ";
    return Throughput("mlp_sweep", of + width) /
           Throughput("mlp_sweep", of + "64");
  };
  EXPECT_LT(kept("cpu", "512"), 0.8);
  EXPECT_GT(kept("big-basin", "512"), 0.95);
  EXPECT_LT(kept("cpu", "1024"), 0.5);
  EXPECT_GT(kept("big-basin", "1024"), 0.8);
}

TEST(BatchSweepTest, GpusGainWithTheBatchAndSaturateAndCpusGainLittle) {
  const auto throughput = [](const char* point, int batch) {
    return Throughput("batch_sweep",
                      std::string("point = ") + point +
                          " and batch = " + std::to_string(batch));
  };
  const std::vector<int> batches = {50, 100, 200, 400, 800, 1600, 3200, 6400};
  for (size_t i = 1; i < batches.size(); ++i) {
    EXPECT_GT(throughput("big-basin", batches[i]),
              throughput("big-basin", batches[i - 1]));
  }
  // Twice the batch: nearly twice as much at first, little at the end.
  EXPECT_GT(throughput("big-basin", 400) / throughput("big-basin", 200), 1.9);
  EXPECT_LT(throughput("big-basin", 6400) / throughput("big-basin", 3200), 1.3);
  EXPECT_LT(throughput("cpu", 6400) / throughput("cpu", 200), 1.2);
}

TEST(HashSizeSweepTest, RowsCostNothingUntilTheyDoNotFit) {
  const auto row = [](const char* placement, const char* rows) {
    return RowOf("hash_size_sweep", std::string("placement = ") + placement +
                                        " and rows = " + rows);
  };
  const double small = row("hbm", "100000").at(Number::kSamplesPerS);
  const double large = row("hbm", "20000000").at(Number::kSamplesPerS);
  EXPECT_NEAR(large / small, 1, 0.05);
  EXPECT_FALSE(row("hbm", "30000000").fits());
  // The cliff: the best that is left.
  for (const char* placement : {"uvm", "host", "remote"}) {
    EXPECT_LT(row(placement, "30000000").at(Number::kSamplesPerS), large / 4)
        << placement;
  }
  // Then host memory is full as well, and only servers are left.
  EXPECT_FALSE(row("host", "50000000").fits());
  EXPECT_TRUE(row("remote", "100000000").fits());
}

TEST(HashSizeSweepTest,
     HybridPlacementIsGpuMemoryWhileItFitsThenNoWorseThanHost) {
  const auto throughput = [](const char* placement, const char* rows) {
    return Throughput("hash_size_sweep", std::string("placement = ") +
                                             placement + " and rows = " + rows);
  };
  EXPECT_EQ(throughput("hybrid", "20000000"), throughput("hbm", "20000000"));
  EXPECT_GE(throughput("hybrid", "30000000"), throughput("host", "30000000"));
  EXPECT_LT(throughput("hybrid", "30000000"), throughput("hbm", "20000000"));
  for (const char* rows : {"30000000", "50000000", "100000000"}) {
    EXPECT_GE(throughput("hybrid-remote", rows), throughput("remote", rows));
  }
}

double Placed(const std::string& point, const std::string& platform,
              const std::string& placement) {
  return Throughput("placement_by_platform",
                    "point = " + point + " and platform = " + platform +
                        " and placement = " + placement);
}

TEST(PlacementByPlatformTest,
     OnBigBasinGpuMemoryIsFarAheadAndHostIsLikeRemote) {
  for (const char* model : {"M1", "M2"}) {
    SCOPED_TRACE(model);
    const double host = Placed(model, "big-basin", "host");
    const double remote = Placed(model, "big-basin", "remote");
    EXPECT_GT(Placed(model, "big-basin", "hbm"), 4 * host);
    EXPECT_GT(host / remote, 0.5);
    EXPECT_LT(host / remote, 2);
  }
}

TEST(PlacementByPlatformTest, ZionsMemoryBeatsBigBasinsHostAndRemote) {
  for (const char* model : {"M1", "M2", "M3"}) {
    SCOPED_TRACE(model);
    const double zion = Placed(model, "zion", "host");
    EXPECT_GT(zion, 1.5 * Placed(model, "big-basin", "remote"));
    const Row& host =
        RowOf("placement_by_platform", std::string("point = ") + model +
                                           " and platform = big-basin and "
                                           "placement = host");
    EXPECT_TRUE(!host.fits() || zion > 1.5 * host.at(Number::kSamplesPerS));
  }
}

TEST(PlacementByPlatformTest, BigBasinBeatsZionWhereTablesFitInGpuMemory) {
  // Zion's prototype has no links between its GPUs.
  EXPECT_GT(Placed("M2", "big-basin", "hbm"), Placed("M2", "zion", "hbm"));
}

TEST(PlacementByPlatformTest, TheLargestModelNeedsNoServersOnZion) {
  const auto row = [](const char* platform, const char* placement) {
    return RowOf("placement_by_platform",
                 std::string("point = M3 and platform = ") + platform +
                     " and placement = " + placement);
  };
  EXPECT_FALSE(row("big-basin", "hbm").fits());
  EXPECT_FALSE(row("big-basin", "host").fits());
  EXPECT_TRUE(row("zion", "host").fits());
}

TEST(ProductionModelsTest, GpusWinOnM1AndLoseOnM3) {
  const auto efficiency = [](const std::string& point) {
    return RowOf("production_models", "point = '" + point + "'")
        .at(Number::kSamplesPerJoule);
  };
  EXPECT_GT(efficiency("M1 big-basin"), 2 * efficiency("M1 cpu"));
  EXPECT_GT(efficiency("M2 big-basin"), 2 * efficiency("M2 cpu"));
  EXPECT_LT(efficiency("M3 big-basin, remote"), efficiency("M3 cpu"));
  EXPECT_GT(efficiency("M3 zion, host"), efficiency("M3 big-basin, remote"));
  const auto throughput = [](const std::string& point) {
    return Throughput("production_models", "point = '" + point + "'");
  };
  // The order of the advantages is the paper's: M1, M2, M3.
  const double m1 = throughput("M1 big-basin") / throughput("M1 cpu");
  const double m2 = throughput("M2 big-basin") / throughput("M2 cpu");
  const double m3 = throughput("M3 big-basin, remote") / throughput("M3 cpu");
  EXPECT_GT(m1, 1);
  EXPECT_GT(m1, m2);
  EXPECT_GT(m2, m3);
  EXPECT_LT(m3, 1);
}

TEST(ProductionModels2026Test, NewerGpusAreFasterOnEveryModel) {
  for (const char* model : {"fleet_m1", "fleet_m2", "fleet_m3"}) {
    SCOPED_TRACE(model);
    const auto throughput = [&](const std::string& point) {
      return Throughput("production_models_2026",
                        "point = '" + point + "' and model = " + model);
    };
    EXPECT_GT(throughput("hgx-h100"), throughput("dgx-a100"));
    EXPECT_GE(throughput("hgx-b200"), throughput("hgx-h100"));
    EXPECT_GT(throughput("hgx-h100"), throughput("hgx-h100, host"));
    EXPECT_GT(throughput("dgx-a100"), throughput("cpu"));
  }
}

}  // namespace
}  // namespace stepcast::explore
