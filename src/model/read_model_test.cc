#include "model/read_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::model {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Result<Model> Parse(const std::string& text) {
  return ParseModel(text, "m.toml", [](std::string_view name) {
    return name == "ids.txt" ? Result<std::string>("3 1\n4,1 5")
                             : Fail(ErrorCode::kNotFound, "no such file");
  });
}

std::string ErrorOf(const std::string& text) {
  const auto model = Parse(text);
  return model ? "no error" : model.error().message;
}

constexpr char kSmall[] = R"(
batch = 4
dense_features = 3
bottom_mlp = [8, 2]
top_mlp = [5, 1]
[[tables]]
rows = 10
dim = 2
)";

TEST(ReadModelTest, LeavesDefaultsWhereTheFileSaysNothing) {
  const auto model = Parse(kSmall);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->name, "m");
  EXPECT_EQ(model->kind, ModelKind::kDlrm);
  EXPECT_EQ(model->tables.front().pooling, 1);
  EXPECT_EQ(model->tables.front().ids.kind, IdKind::kUnknown);
  EXPECT_EQ(model->interaction.kind, InteractionKind::kDot);
  EXPECT_EQ(InteractionWidth(*model), 3);  // 2 + one pair.
}

TEST(ReadModelTest, EqualTablesOfAListAreOneGroup) {
  const auto model = Parse(R"(
batch = 4
top_mlp = [1]
interaction = "cat"
[[tables]]
count = 3
rows = 10
dim = 2
pooling = 1.5
[[tables]]
rows = [7, 7, 8]
dim = 4
)");
  ASSERT_TRUE(model) << model.error().message;
  ASSERT_EQ(model->tables.size(), 3u);
  EXPECT_EQ(model->tables[0].count, 3);
  EXPECT_EQ(model->tables[1].count, 2);
  EXPECT_EQ(TableCount(*model), 6);
  EXPECT_EQ(EmbeddingWidth(*model), 3 * 2 + 3 * 4);
}

// python dlrm_s_pytorch.py --arch-sparse-feature-size=2 ...
TEST(ReadModelTest, TakesTheWordsOfFacebooksDlrm) {
  const auto model = Parse(R"(
arch-sparse-feature-size = 2
arch-embedding-size = "4-3-2"
arch-mlp-bot = "3-8-2"
arch-mlp-top = "5-1"
arch-interaction-op = "dot"
num-indices-per-lookup = 7
mini-batch-size = 4
loss-function = "mse"
)");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->dense_features, 3);
  EXPECT_EQ(model->bottom_mlp, (std::vector<int64_t>{8, 2}));
  EXPECT_EQ(model->top_mlp, (std::vector<int64_t>{5, 1}));
  EXPECT_EQ(model->tables.size(), 3u);
  EXPECT_EQ(model->tables[2].rows, 2);
  EXPECT_EQ(model->tables[2].pooling, 7);
  EXPECT_EQ(model->batch, 4);
  EXPECT_EQ(model->loss, Loss::kMse);
}

TEST(ReadModelTest, TakesTheWordsOfTorchrec) {
  const auto model = Parse(R"(
num_embeddings_per_feature = "10,20"
embedding_dim = 2
dense_features = 13
dense_arch_layer_sizes = "8,2"
over_arch_layer_sizes = "5,1"
interaction_type = "dcn"
dcn_num_layers = 3
dcn_low_rank_dim = 4
multi_hot_sizes = [1, 3]
batch_size = 16
)");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->bottom_mlp, (std::vector<int64_t>{8, 2}));
  EXPECT_EQ(model->interaction.kind, InteractionKind::kDcnV2);
  EXPECT_EQ(model->interaction.cross_rank, 4);
  EXPECT_EQ(model->tables[1].pooling, 3);
}

TEST(ReadModelTest, ReadsDistributionsOfIds) {
  const auto model = Parse(R"(
batch = 4
top_mlp = [1]
[[tables]]
rows = 10
dim = 2
ids = "zipf"
alpha = 1.05
[[tables]]
rows = 10
dim = 2
histogram = [[0.1, 0.9], [0.9, 0.1]]
[[tables]]
rows = 10
dim = 2
ids_file = "ids.txt"
)");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->tables[0].ids.alpha, 1.05);
  EXPECT_EQ(model->tables[1].ids.steps[0].lookups, 0.9);
  EXPECT_EQ(model->tables[2].ids.ids, (std::vector<int64_t>{3, 1, 4, 1, 5}));
}

struct Wrong {
  const char* text = "";
  const char* message = "";
};

class WrongModelTest : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongModelTest, SaysWhereWhatAndWhatWasExpected) {
  const std::string message = ErrorOf(GetParam().text);
  EXPECT_THAT(message, StartsWith("m.toml:"));
  EXPECT_THAT(message, HasSubstr(GetParam().message));
}

constexpr Wrong kWrong[] = {
    {"batch = 4\ntop_mpl = [1]\n",
     "m.toml:2: unknown key 'top_mpl'; did you mean top_mlp?"},
    {"batch = 4\nbatch_size = 4\n", "mean the same; expected one of them"},
    {"batch = 4\ntop_mlp = [1]\n[[tables]]\nrows = 0\ndim = 2\n",
     "m.toml:4: rows is 0; expected 1 to"},
    {"batch = 4\ntop_mlp = [1]\n[[tables]]\nrows = 5\ndim = 2\npooling = -1\n",
     "m.toml:6: pooling is -1; expected above 0"},
    {"batch = 4\ntop_mlp = [1]\n[[tables]]\nrows = 5\n",
     "dim is missing; expected the columns"},
    {"batch = 4\ndense_features = 3\nbottom_mlp = [4]\ntop_mlp = [1]\n"
     "[[tables]]\nrows = 5\ndim = 2\n",
     "m.toml:3: bottom_mlp ends with 4; expected 2, the columns of the tables"},
    {"kind = \"wide_deep\"\nbatch = 4\ntop_mlp = [8, 5]\n[[tables]]\n"
     "rows = 5\ndim = 2\n",
     "m.toml:3: top_mlp ends with 5; expected 1, to be added"},
    // Its one number is the count of dense features, which has no line.
    {"mini-batch-size = 4\narch-sparse-feature-size = 2\n"
     "arch-embedding-size = \"4-3-2\"\narch-mlp-bot = \"382\"\n"
     "arch-mlp-top = \"5-1\"\n",
     "m.toml:4: arch-mlp-bot ends with 382; expected 2, the columns of the"},
    {"batch = 4\ntop_mlp = [1]\n[[tables]]\nrows = 5\ndim = 2\n[[tables]]\n"
     "rows = 5\ndim = 3\n",
     "m.toml:8: tables have 2 and 3 columns; expected one dim"},
    {"batch = 4\nembedding_dim = 3\ntop_mlp = [1]\n[[tables]]\nrows = 5\n"
     "dim = 2\n[[tables]]\nrows = 5\n",
     "tables have 2 and 3 columns; expected one dim"},
    {"batch = 4\ndense_features = 2\ntop_mlp = [1]\ntop_input = 4\n[[tables]]\n"
     "rows = 5\ndim = 2\n",
     "m.toml:4: the top MLP reads 4 numbers; expected 3"},
    {"batch = 4\ntop_mlp = [1]\n[[tables]]\nrows = 5\ndim = 2\n",
     "one table and no dense features; expected two vectors"},
    {"batch = 4\ntop_mlp = \"5-x\"\n", "expected numbers like"},
    {"batch = 4\nbottom_mlp = [2]\n", "dense_features is missing"},
    {"batch = 4\ninteraction = \"dott\"\n", "did you mean dot?"},
    {"batch = 4\ninteraction = \"dcnv2\"\n", "without cross_layers"},
    {"top_mlp = [1]\n", "batch is missing"},
    {"batch = 4\ntop_mlp = [1]\n", "the model has no tables"},
    {"batch = 4\n[[tables]]\nrows = 5\ndim = 2\n", "top_mlp is missing"},
    {"batch = 4\nkind = \"transformer\"\n", "without a [transformer] section"},
    {"batch = 4\nkind = \"transformer\"\n[transformer]\nlayers = 1\n"
     "hidden = 10\nheads = 3\nvocabulary = 7\nsequence = 5\n",
     "heads is 3; expected a divisor of hidden, 10"},
    {"batch = 4\ntop_mlp = [1]\n[[tables]]\nrows = 5\ndim = 2\nids = "
     "\"zipf\"\n",
     "zipf without alpha"},
    {"batch = 4\ntop_mlp = [1]\n[[tables]]\nrows = 5\ndim = 2\n"
     "histogram = [[0.5, 0.5], [0.2, 0.5]]\n",
     "both to sum to 1"},
    {"batch = 4\ntop_mlp = [1]\n[[tables]]\nrows = 5\ndim = 2\n"
     "ids_file = \"none\"\n",
     "no such file"},
    {"batch = 4\ndense_optimizer = \"rowwise_adagrad\"\n", "is for tables"},
    {"batch = \n", "m.toml:1:"},
};

INSTANTIATE_TEST_SUITE_P(All, WrongModelTest, ::testing::ValuesIn(kWrong));

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
