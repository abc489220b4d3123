#include "learn/fit/fit_collectives.h"

#include <cmath>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/collectives/collective_store.h"
#include "cost/collectives/formula.h"
#include "learn/fit/collective_points.h"

namespace stepcast::learn {
namespace {

using ::testing::HasSubstr;

// What the formula says with these constants, on three systems.
CollectiveRows MakeRows(const cost::CollectiveConstants& constants) {
  CollectiveRows rows{
      .tables = {"made"},
      .systems = {"a100-sxm-80gb/single-node", "h200-sxm-141gb/single-node",
                  "b200-sxm-180gb/single-node"}};
  const auto clusters = ClustersOf(rows, {});
  EXPECT_TRUE(clusters.has_value()) << clusters.error().message;
  for (size_t system = 0; system < clusters->size(); ++system) {
    for (const int ranks : {2, 4, 8}) {
      for (int octave = 10; octave < 29; ++octave) {
        CollectiveRow row{.kind = ir::CollectiveKind::kAllToAll,
                          .dtype = ir::DType::kFp16,
                          .ranks = ranks,
                          .bytes = std::exp2(octave),
                          .system = static_cast<uint16_t>(system)};
        row.time_us = cost::CollectiveFormula((*clusters)[system], constants)
                          .Us(LoadOf(row));
        rows.rows.push_back(row);
      }
    }
  }
  return rows;
}

TEST(FitCollectives, FindsTheConstantsOfTheTimes) {
  cost::CollectiveConstants constants;
  constants.all_to_all = {.start_us = 5,
                          .step_us = 0.7,
                          .link_share = 0.66,
                          .pair_factor = 0.8,
                          .pcie_share = 0.5,
                          .blend = 0.7};
  const auto fit = FitCollectives(MakeRows(constants), {}, 1);
  ASSERT_TRUE(fit.has_value()) << fit.error().message;
  const cost::KindConstants& found = fit->constants.all_to_all;
  EXPECT_NEAR(found.start_us, 5, 0.4);
  EXPECT_NEAR(found.step_us, 0.7, 0.15);
  EXPECT_NEAR(found.link_share, 0.66, 0.04);
  EXPECT_NEAR(found.blend, 0.7, 0.03);
  ASSERT_EQ(fit->profiles.size(), 3u);
  EXPECT_EQ(fit->profiles[1].curves.size(), 3u);
  // Other kinds have no rows.
  EXPECT_EQ(fit->constants.all_reduce.start_us,
            cost::CollectiveConstants{}.all_reduce.start_us);
}

TEST(FitCollectives, WritesWhatTheStoreReads) {
  const auto fit = FitCollectives(MakeRows({}), {}, 1);
  ASSERT_TRUE(fit.has_value());
  for (const ProfileFile& file : FilesOf(*fit, "a test")) {
    if (file.path == "collective_constants.toml") {
      const auto constants =
          cost::ParseCollectiveConstants(file.text, file.path);
      EXPECT_TRUE(constants.has_value()) << constants.error().message;
    } else {
      const auto profile = cost::ParseCollectiveProfile(file.text, file.path);
      ASSERT_TRUE(profile.has_value()) << profile.error().message;
      EXPECT_EQ(profile->system + ".toml", file.path);
    }
  }
}

TEST(FitCollectives, OneGpuSaysNothingAboutOthers) {
  CollectiveRows rows = MakeRows({});
  std::erase_if(rows.rows,
                [](const CollectiveRow& row) { return row.system != 0; });
  rows.systems.resize(1);
  const auto fit = FitCollectives(rows, {}, 1);
  ASSERT_TRUE(fit.has_value());
  EXPECT_FALSE(fit->constants_fitted);
  EXPECT_EQ(FilesOf(*fit, "a test").size(), 1u);
}

// What one law makes for all is known of a GPU that was left out.
TEST(LeaveOutCollectives, KnowsSystemsOfTheSameLaw) {
  const auto table = LeaveOutCollectives(MakeRows({}), {}, 1);
  ASSERT_TRUE(table.has_value());
  ASSERT_EQ(table->lines.size(), 3u);
  for (const CollectiveLeaveOutLine& line : table->lines) {
    EXPECT_LT(line.errors.mape_pct, 3) << line.system;
  }
}

TEST(ClustersOf, SaysWhichSystemNoPlatformNames) {
  CollectiveRows rows{.tables = {"made"}, .systems = {"l4/my-box"}};
  const auto clusters = ClustersOf(rows, {});
  ASSERT_FALSE(clusters.has_value());
  EXPECT_THAT(clusters.error().message, HasSubstr("'l4/my-box'"));
}

constexpr cost::Ramp kTrue{.latency_us = 12, .bus_gbs = 200, .blend = 0.6};
constexpr cost::Ramp kFormula{.latency_us = 9, .bus_gbs = 300, .blend = 0.8};

// Every octave from 512 B to 256 MB, as a ramp says, with a step from
// `step_log2` on.
MeasuredCurve Curve(double step_log2, double factor) {
  MeasuredCurve curve{.kind = ir::CollectiveKind::kAllGather,
                      .group = {.ranks = 4}};
  for (int octave = 9; octave <= 28; ++octave) {
    const double bytes = std::exp2(octave);
    const double us = kTrue.Us(bytes) * (octave >= step_log2 ? factor : 1);
    curve.points.push_back({.wire_bytes = bytes, .log_us = std::log(us)});
    curve.row_bytes.push_back(bytes);
    curve.row_us.push_back(us);
  }
  curve.rows = curve.row_us.size();
  return curve;
}

TEST(FitRamp, FindsTheRampOfTheTimes) {
  const cost::Ramp ramp = FitRamp(Curve(99, 1), kFormula);
  EXPECT_NEAR(ramp.latency_us, 12, 0.2);
  EXPECT_NEAR(ramp.bus_gbs, 200, 6);
  EXPECT_NEAR(ramp.blend, 0.6, 0.02);
}

TEST(FitRamp, StaysWithTheFormulaWhereThereAreFewSizes) {
  MeasuredCurve curve = Curve(99, 1);
  curve.points.erase(curve.points.begin(), curve.points.end() - 3);
  const cost::Ramp ramp = FitRamp(curve, kFormula);
  // Large messages tell the rate, and nothing of the latency.
  EXPECT_NEAR(ramp.Us(std::exp2(28)), kTrue.Us(std::exp2(28)),
              0.02 * kTrue.Us(std::exp2(28)));
  EXPECT_NEAR(ramp.latency_us, 9, 5);
}

TEST(FitCurve, BendsWhereAProtocolChanges) {
  const MeasuredCurve measured = Curve(20, 1.5);
  const cost::CollectiveCurve curve = FitCurve(measured, kFormula);
  for (const SizePoint& point : measured.points) {
    const double us = std::exp(point.log_us);
    EXPECT_NEAR(curve.Us(point.wire_bytes, kFormula), us, 0.12 * us);
  }
  // Two octaves away it is as good as without a step.
  EXPECT_NEAR(curve.Us(std::exp2(24), kFormula), 1.5 * kTrue.Us(std::exp2(24)),
              0.04 * 1.5 * kTrue.Us(std::exp2(24)));
}

TEST(FitCurve, NeverFalls) {
  const cost::CollectiveCurve curve = FitCurve(Curve(15, 0.6), kFormula);
  double before = 0;
  for (int tenth = 50; tenth < 320; ++tenth) {
    const double us = curve.Us(std::exp2(tenth / 10.0), kFormula);
    EXPECT_GE(us, before * (1 - 1e-12)) << tenth;
    before = us;
  }
}

}  // namespace
}  // namespace stepcast::learn
