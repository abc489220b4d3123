#include "learn/fit/fit_constants.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "learn/fit/measured_rows_testing.h"

namespace stepcast::learn {
namespace {

using cost::Constant;

TEST(ConstantGroups, HaveEveryFittedConstantOnce) {
  std::set<Constant> seen;
  for (const ConstantGroup& group : ConstantGroups()) {
    EXPECT_TRUE(group.type.empty() ||
                group.type == cost::Name(cost::Variant::kFull) ||
                group.type == cost::Name(cost::Variant::kHalf))
        << group.type;
    for (const Constant id : group.constants) {
      EXPECT_TRUE(seen.insert(id).second) << static_cast<int>(id);
    }
  }
  const auto fitted = std::ranges::count_if(cost::ConstantInfos(), IsFitted);
  EXPECT_EQ(seen.size(), static_cast<size_t>(fitted));
}

TEST(ConstantPlaces, GoThereAndBack) {
  for (const cost::ConstantInfo& info : cost::ConstantInfos()) {
    if (info.low < info.high) {
      EXPECT_NEAR(ValueAtPlace(info, PlaceInRange(info, info.value)),
                  info.value, 1e-9 * std::abs(info.value));
      EXPECT_DOUBLE_EQ(ValueAtPlace(info, -1), info.low);
      EXPECT_DOUBLE_EQ(ValueAtPlace(info, 2), info.high);
    }
  }
}

TEST(FitGroup, FindsTheConstantsThatMadeTheRows) {
  cost::Constants truth;
  truth.Set(Constant::kSoftmaxRowCycles, 1000);
  truth.Set(Constant::kSoftmaxColumnCycles, 0.5);
  const KernelRows rows =
      MadeSoftmaxRows({"v100-pcie-32gb", "t4", "a100-pcie-40gb"}, truth);
  const auto gpus = MeasureGpus(rows, cost::Constants(), 1);
  ASSERT_TRUE(gpus.has_value()) << gpus.error().message;
  std::vector<const MeasuredGpu*> all;
  for (const MeasuredGpu& gpu : *gpus) {
    all.push_back(&gpu);
  }
  const std::vector<ConstantGroup> groups = ConstantGroups();
  const auto group =
      std::ranges::find(groups, "softmax", &ConstantGroup::family);
  ASSERT_NE(group, groups.end());
  const cost::Constants fitted = FitGroup(*group, all, cost::Constants());
  EXPECT_NEAR(fitted[Constant::kSoftmaxRowCycles], 1000, 50);
  EXPECT_NEAR(fitted[Constant::kSoftmaxColumnCycles], 0.5, 0.05);
  // Nothing else moves.
  EXPECT_EQ(fitted[Constant::kNormRowCycles],
            cost::Constants()[Constant::kNormRowCycles]);
}

TEST(ConstantsText, IsReadBack) {
  cost::Constants constants;
  constants.Set(Constant::kGemmPrologue, 12.5);
  cost::Constants read;
  ASSERT_TRUE(read.Read(ConstantsText(constants, "a test"), "x").has_value());
  EXPECT_EQ(read[Constant::kGemmPrologue], 12.5);
  EXPECT_EQ(read[Constant::kGemmTraffic], constants[Constant::kGemmTraffic]);
}

}  // namespace
}  // namespace stepcast::learn
