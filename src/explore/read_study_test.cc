#include "explore/read_study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::explore {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string ErrorOf(std::string_view text, int64_t limit = kMostRows) {
  const auto study = ParseStudy(text, "s.toml", limit);
  if (!study) {
    return study.error().message;
  }
  const auto rows = CheckRows(*study);
  return rows ? "none" : rows.error().message;
}

TEST(ReadStudyTest, ATypoNamesTheNearestWord) {
  EXPECT_EQ(ErrorOf("model = \"dlrm_default\"\n[vary]\nbatsh = [1]\n"),
            "s.toml:3: unknown setting 'batsh'; did you mean batch?");
  EXPECT_EQ(ErrorOf("modl = \"dlrm_default\"\n"),
            "s.toml:1: unknown key 'modl'; did you mean model?");
  EXPECT_THAT(ErrorOf("model = \"dlrm_default\"\n[base]\n"
                      "gpu = \"a100-sxm-88gb\"\n"),
              StartsWith("s.toml:3: unknown GPU 'a100-sxm-88gb'; did you "
                         "mean a100-80gb"));
}

TEST(ReadStudyTest, AnEmptyAxisIsAnError) {
  EXPECT_EQ(ErrorOf("model = \"dlrm_default\"\n[vary]\nbatch = []\n"),
            "s.toml:3: axis batch is empty; expected one value or more");
  EXPECT_EQ(ErrorOf("models = []\n"),
            "s.toml:1: axis model is empty; expected one value or more");
}

TEST(ReadStudyTest, TooManyRowsAreAnError) {
  EXPECT_EQ(ErrorOf("model = \"dlrm_default\"\n[vary]\nbatch = [1, 2, 3]\n"
                    "dim = [4, 8]\n",
                    5),
            "s.toml:4: 6 rows (3 batch x 2 dim); expected 5 or fewer, or "
            "another --limit");
}

TEST(ReadStudyTest, MachinesThatCannotBeAreErrors) {
  EXPECT_THAT(ErrorOf("model = \"dlrm_default\"\n[base]\n"
                      "platform = \"dgx-a100\"\n[vary]\ngpus = [8, 16]\n"),
              StartsWith("s.toml:5: "));
}

TEST(ReadStudyTest, SizesThatDoNotFitAreErrors) {
  EXPECT_THAT(ErrorOf("model = \"dlrm_default\"\n[vary]\n"
                      "bottom_mlp = [\"512-32\"]\n"),
              HasSubstr("expected one length for a dot interaction"));
}

TEST(ReadStudyTest, ValuesOutOfRangeAreErrors) {
  EXPECT_EQ(
      ErrorOf("model = \"dlrm_default\"\n[vary]\nbatch = [0]\n"),
      "s.toml:3: batch is '0'; expected a whole number from 1 to 16777216");
  EXPECT_EQ(ErrorOf("model = \"dlrm_default\"\n[vary]\ngpus = [\"all\"]\n"),
            "s.toml:3: gpus is 'all'; expected a whole number from 1 to "
            "1048576");
  EXPECT_THAT(ErrorOf("model = \"dlrm_default\"\n[vary]\nbatch = { from = 8, "
                      "to = 4, steps = 2 }\n"),
              StartsWith("s.toml:3: batch goes from 8 to 4; expected"));
}

TEST(ReadStudyTest, EveryRowNeedsAModel) {
  EXPECT_THAT(ErrorOf("[vary]\nbatch = [1]\n"),
              HasSubstr("rows without a model; expected"));
}

TEST(ReadStudyTest, RangesHaveTheirEnds) {
  const auto study = ParseStudy(R"(
model = "dlrm_default"
[vary]
batch = { from = 64, to = 4096, steps = 4, scale = "log" }
)",
                                "s.toml");
  ASSERT_TRUE(study.has_value()) << study.error().message;
  const std::vector<AxisValue>& values = study->axes[0].values;
  ASSERT_EQ(values.size(), 4u);
  EXPECT_EQ(values[0].label, "64");
  EXPECT_EQ(values[1].label, "256");
  EXPECT_EQ(values[3].label, "4096");
}

TEST(ReadStudyTest, ChartsAndSensitivitiesNameWhatExists) {
  EXPECT_THAT(ErrorOf("model = \"dlrm_default\"\n[[charts]]\nx = \"bach\"\n"),
              StartsWith("s.toml:3: unknown column 'bach'"));
  EXPECT_THAT(ErrorOf("model = \"dlrm_default\"\n[[sensitivity]]\nname = "
                      "\"a\"\nof = \"somewhere\"\n"),
              StartsWith("s.toml:4: no points to name; expected"));
}

}  // namespace
}  // namespace stepcast::explore
