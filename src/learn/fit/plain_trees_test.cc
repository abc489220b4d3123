#include "learn/fit/plain_trees.h"

#include <gtest/gtest.h>

#include "base/stats.h"
#include "hw/device.h"
#include "learn/fit/measured_rows_testing.h"

namespace stepcast::learn {
namespace {

// Softmax kernels of one GPU, and all that a fit needs to see them.
struct MadeSoftmax {
  explicit MadeSoftmax(const cost::Constants& truth)
      : rows(MadeSoftmaxRows({"v100-pcie-32gb"}, truth)),
        group(GroupRows(rows, 0).front()),
        machine{.device = hw::FindDevice("v100-pcie-32gb").value()} {}

  TrainingInput input() const {
    return {
        .all = rows, .group = group, .machine = machine, .profile = profile};
  }

  KernelRows rows;
  RowGroup group;
  cost::Machine machine;
  cost::Profile profile;
};

struct TestErrors {
  double trees_pct = 0;
  double roofline_pct = 0;
};

TestErrors ErrorsOn(const MadeSoftmax& made,
                    const std::vector<double>& kernel_us) {
  Errors trees;
  Errors roofline;
  for (size_t i = 0; i < made.group.rows.size(); ++i) {
    const KernelRow& row = *made.group.rows[i];
    if (PartOf(row.shape) == Part::kTest) {
      trees.Add(kernel_us[i], row.time_us);
      roofline.Add(made.group.family->base(row.shape, made.machine).roofline_us,
                   row.time_us);
    }
  }
  return {.trees_pct = trees.Summary().mape_pct,
          .roofline_pct = roofline.Summary().mape_pct};
}

TEST(PlainTreesTest, LearnWhatTheRooflineMisses) {
  const MadeSoftmax made{cost::Constants()};
  const auto kernel_us =
      PricePlainTrees(made.input(), MakeTrainingRows(made.input()));
  ASSERT_TRUE(kernel_us.has_value()) << kernel_us.error().message;
  ASSERT_EQ(kernel_us->size(), made.group.rows.size());
  const TestErrors errors = ErrorsOn(made, *kernel_us);
  EXPECT_LT(errors.trees_pct, 10);
  EXPECT_GT(errors.roofline_pct, 2 * errors.trees_pct);
}

TEST(PlainTreesTest, KnowNothingOfTheFormula) {
  MadeSoftmax made{cost::Constants()};
  const auto before =
      PricePlainTrees(made.input(), MakeTrainingRows(made.input()));
  made.machine.constants.Set(cost::Constant::kSoftmaxRowCycles, 600);
  const auto after =
      PricePlainTrees(made.input(), MakeTrainingRows(made.input()));
  ASSERT_TRUE(before.has_value());
  EXPECT_EQ(*before, after.value());
}

TEST(PlainTreesTest, DoNotSeeTestRows) {
  MadeSoftmax made{cost::Constants()};
  const auto before =
      PricePlainTrees(made.input(), MakeTrainingRows(made.input()));
  for (KernelRow& row : made.rows.rows) {
    if (PartOf(row.shape) == Part::kTest) {
      row.time_us *= 3;
    }
  }
  const auto after =
      PricePlainTrees(made.input(), MakeTrainingRows(made.input()));
  ASSERT_TRUE(before.has_value());
  EXPECT_EQ(*before, after.value());
}

}  // namespace
}  // namespace stepcast::learn
