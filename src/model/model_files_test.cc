#include "model/model_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::model {
namespace {

using ::testing::HasSubstr;

TEST(ModelFilesTest, EveryBuiltInModelIsReadableAndNamesItsSource) {
  const auto models = LoadModels();
  ASSERT_TRUE(models) << models.error().message;
  EXPECT_GE(models->size(), 20u);
  for (const Model& model : *models) {
    EXPECT_FALSE(model.source.empty()) << model.name;
    EXPECT_TRUE(IsModelName(model.name));
  }
}

TEST(ModelFilesTest, NamesForgiveCaseAndDashes) {
  const auto model = FindModel("DLRM-MLPerf");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->name, "dlrm_mlperf");
}

TEST(ModelFilesTest, UnknownNamesGetTheNearestOne) {
  const auto model = FindModel("dlrm_mlprf");
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message,
              HasSubstr("unknown workload 'dlrm_mlprf'; did you mean "
                        "dlrm_mlperf?"));
}

// 177.9 million rows, 84.9 GiB in FP32 (NVIDIA's README).
TEST(ModelFilesTest, CriteoSizesAreThePublishedOnes) {
  const auto model = FindModel("nvidia_dlrm_t3");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(TableCount(*model), 26);
  double bytes = 0;
  for (const TableGroup& group : model->tables) {
    bytes += 4.0 * static_cast<double>(group.count * group.rows * group.dim);
  }
  EXPECT_NEAR(bytes / (1 << 30), 84.9, 0.1);
}

// 214 ids per sample (MLPerf).
TEST(ModelFilesTest, MultiHotSizesAreThoseOfMlperf) {
  const auto model = FindModel("mlperf_dlrm_dcnv2");
  ASSERT_TRUE(model) << model.error().message;
  double ids = 0;
  for (const TableGroup& group : model->tables) {
    ids += static_cast<double>(group.count) * group.pooling;
  }
  EXPECT_EQ(ids, 214);
}

TEST(FindModelTest, ANameThatEndsLikeAFileIsNotAnUnknownModel) {
  for (const char* const name : {"a.json", "a.json.gz", "a.graph", "a.0.et"}) {
    const auto model = FindModel(name);
    ASSERT_FALSE(model);
    EXPECT_THAT(model.error().message, HasSubstr("no such file"));
  }
}

}  // namespace
}  // namespace stepcast::model
