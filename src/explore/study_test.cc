#include "explore/study.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explore/read_study.h"

namespace stepcast::explore {
namespace {

using ::testing::ElementsAre;

Study Parsed(std::string_view text) {
  auto study = ParseStudy(text, "study.toml");
  EXPECT_TRUE(study.has_value()) << study.error().message;
  return study ? *std::move(study) : Study();
}

TEST(DesignerTest, TheLastAxisOfAGridGoesFastest) {
  const Study study = Parsed(R"(
model = "dlrm_default"
[vary]
batch = [256, 512]
pooling = [1, 10, 100]
)");
  ASSERT_EQ(RowCount(study), 6);
  const Designer designer(study);
  EXPECT_THAT(designer.ValuesOf(0), ElementsAre(0, 0));
  EXPECT_THAT(designer.ValuesOf(1), ElementsAre(0, 1));
  EXPECT_THAT(designer.ValuesOf(3), ElementsAre(1, 0));
  EXPECT_THAT(designer.ValuesOf(5), ElementsAre(1, 2));
}

TEST(DesignerTest, AxesKeepTheOrderOfTheFile) {
  const Study study = Parsed(R"(
model = "dlrm_default"
[vary]
pooling = [1, 10]
batch = [256]
dim = [64, 128]
)");
  ASSERT_EQ(study.axes.size(), 3u);
  EXPECT_EQ(study.axes[0].name, "pooling");
  EXPECT_EQ(study.axes[1].name, "batch");
  EXPECT_EQ(study.axes[2].name, "dim");
}

TEST(DesignerTest, EachStretchOfALatinHypercubeHasOneRow) {
  const Study study = Parsed(R"(
model = "dlrm_default"
[design]
method = "latin-hypercube"
points = 50
seed = 7
[vary]
pooling = { from = 1, to = 101 }
batch = { from = 64, to = 65536, scale = "log" }
impl = ["pytorch", "pytorch-bags"]
)");
  ASSERT_EQ(RowCount(study), 50);
  const Designer designer(study);
  std::set<int> stretches;
  int bags = 0;
  for (int64_t row = 0; row < 50; ++row) {
    for (const Setting& setting : designer.SettingsOf(row)) {
      const std::string_view name = KindOf(setting).name;
      if (name == "pooling") {
        stretches.insert(static_cast<int>((*setting.value.number - 1) / 2));
      } else if (name == "batch") {
        EXPECT_GE(*setting.value.number, 64);
        EXPECT_LE(*setting.value.number, 65536);
      } else if (name == "impl") {
        bags += setting.value.text == "pytorch-bags" ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(stretches.size(), 50u);
  EXPECT_EQ(bags, 25);
}

TEST(DesignerTest, APointReplacesWhatTheBaseSays) {
  const Study study = Parsed(R"(
model = "dlrm_default"
[base]
batch = 100
gpu = "v100-sxm-32gb"
[[points]]
name = "usual"
[[points]]
name = "large"
batch = 4096
)");
  const Designer designer(study);
  const auto batch_of = [&](int64_t row) {
    for (const Setting& setting : designer.SettingsOf(row)) {
      if (KindOf(setting).name == "batch") {
        return *setting.value.number;
      }
    }
    return 0.0;
  };
  EXPECT_EQ(batch_of(0), 100);
  EXPECT_EQ(batch_of(1), 4096);
}

TEST(RowCountTest, ProductsTooLargeToCountAreTheMost) {
  Study study;
  for (int i = 0; i < 10; ++i) {
    Axis axis;
    axis.values.resize(1000);
    study.axes.push_back(axis);
  }
  EXPECT_EQ(RowCount(study), INT64_MAX);
}

}  // namespace
}  // namespace stepcast::explore
