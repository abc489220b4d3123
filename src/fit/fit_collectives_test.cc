#include "fit/fit_collectives.h"

#include <cmath>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/collectives/collective_store.h"
#include "cost/collectives/formula.h"
#include "fit/collective_points.h"

namespace stepcast::fit {
namespace {

using measurements::CollectiveRows;
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
        measurements::CollectiveRow row{
            .kind = ir::CollectiveKind::kAllToAll,
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

TEST(FitCollectives, FindsTheConstantsBehindTheTimes) {
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

TEST(FitCollectives, OneGpuTellsNothingOfOthers) {
  CollectiveRows rows = MakeRows({});
  std::erase_if(rows.rows, [](const measurements::CollectiveRow& row) {
    return row.system != 0;
  });
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

}  // namespace
}  // namespace stepcast::fit
