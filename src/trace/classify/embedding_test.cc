#include <string>

#include <gtest/gtest.h>

#include "trace/classify/classify_testing.h"

namespace stepcast::trace {
namespace {

constexpr std::string_view kForwardKernel =
    "void split_embedding_codegen_forward_unweighted_kernel<float, float>()";
constexpr std::string_view kBackwardKernel =
    "void split_embedding_backward_codegen_rowwise_adagrad_unweighted_kernel_"
    "warp_per_row_1<float, float>()";

// 5 tables of 1000 rows x 96; 2048 samples; 169530 ids. Arguments as FBGEMM
// declares them; the profiler shows no plain values.
constexpr OpText kLookup = {
    .name = "fbgemm::split_embedding_codegen_lookup_rowwise_adagrad_function",
    .dims =
        "[[0], [480000], [0], [0, 0], [5], [5], [6], [], [], [6], [], "
        "[169530], [10241], [], [169530], [], [0], [], [], [], [5000], "
        "[0], [5], [5], [], [], [], [], []]",
    .types = R"(["float", "float", "float", "float", "int", "long", "int",
                 "Scalar", "Scalar", "long", "Scalar", "long", "long",
                 "Scalar", "float", "", "int", "Scalar", "Scalar", "Scalar",
                 "float", "float", "int", "long", "Scalar", "Scalar", "Scalar",
                 "Scalar", "Scalar"])"};

constexpr OpText kNode = {
    .name = "torch::autograd::CppNode<SplitLookupFunction_rowwise_adagrad_Op>",
    .dims = "[[2048, 480]]",
    .types = R"(["float"])"};

TEST(EmbeddingTest, RowWiseMomentaCountTheRows) {
  // 5000 momenta: 5000 rows; 480000 / 5000 = 96 columns; (10241 - 1) / 5
  // samples.
  EXPECT_EQ(ShapeOf({.kernel = kForwardKernel, .ops = {kLookup}}),
            "embedding_bag tables=5 rows=5000 dim=96 batch=2048 "
            "lookups=169530 dtype=fp32");
}

TEST(EmbeddingTest, AnExecutionTraceShowsTheColumns) {
  // total_D is 48: 3 tables of 16 columns; 640649648 / 16 rows.
  EXPECT_EQ(
      ShapeOf(
          {.kernel = kForwardKernel,
           .ops = {{.name = "fbgemm::split_embedding_codegen_lookup_adagrad_"
                            "function",
                    .dims = "[[0], [640649648], [0], [0, 0], [3], [3], [4], "
                            "[], [], [4], [], [768], [385], []]",
                    .types = R"x(["Tensor(float)", "Tensor(float)",
                        "Tensor(float)", "Tensor(float)", "Tensor(int)",
                        "Tensor(long int)", "Tensor(int)", "Int", "Int",
                        "Tensor(long int)", "Int", "Tensor(long int)",
                        "Tensor(long int)", "Int"])x",
                    .values = R"([[1, 1, 0, 0, 4, "cuda:0"],
                        [2, 2, 0, 640649648, 4, "cuda:0"],
                        [3, 1, 0, 0, 4, "cuda:0"], [4, 1, 0, 0, 4, "cuda:0"],
                        [5, 5, 0, 3, 4, "cuda:0"], [6, 6, 0, 3, 8, "cuda:0"],
                        [7, 7, 0, 4, 4, "cuda:0"], 48, 16,
                        [8, 8, 0, 4, 8, "cuda:0"], 26,
                        [9, 9, 0, 768, 8, "cuda:0"],
                        [10, 10, 0, 385, 8, "cuda:0"], 0])"}}}),
      "embedding_bag tables=3 rows=40040603 dim=16 batch=128 lookups=768 "
      "dtype=fp32 max_dim=16");
}

// A processor's forward has total_D, no max_D and no total_hash_size_bits; its
// backward has max_D alone, but also the gradient of all columns.
TEST(EmbeddingTest, AProcessorsLookupShowsTheColumns) {
  // 2 tables of 32 columns: 64 in all; 640000 / 32 rows.
  EXPECT_EQ(
      ShapesOf({.name = "fbgemm::split_embedding_codegen_forward_cpu",
                .dims = "[[640000], [2], [3], [], [3], [2560], [257], [], [0], "
                        "[]]",
                .types = R"x(["Tensor(float)", "Tensor(long int)",
                    "Tensor(int)", "Int", "Tensor(long int)",
                    "Tensor(long int)", "Tensor(long int)", "Int",
                    "Tensor(float)", "Int"])x",
                .values = R"([[1, 1, 0, 640000, 4, "cuda:0"],
                    [2, 2, 0, 2, 8, "cuda:0"], [3, 3, 0, 3, 4, "cuda:0"], 64,
                    [4, 4, 0, 3, 8, "cuda:0"], [5, 5, 0, 2560, 8, "cuda:0"],
                    [6, 6, 0, 257, 8, "cuda:0"], 0, [7, 7, 0, 0, 4, "cuda:0"],
                    0])"}),
      "embedding_bag tables=2 rows=20000 dim=32 batch=128 lookups=2560 "
      "dtype=fp32");
  EXPECT_EQ(
      ShapesOf({.name = "fbgemm::split_embedding_backward_codegen_sgd_cpu",
                .dims = "[[128, 64], [640000], [2], [2], [3], [], [3], [], "
                        "[2560], [257], []]",
                .types = R"x(["Tensor(float)", "Tensor(float)", "Tensor(int)",
                    "Tensor(long int)", "Tensor(int)", "Int",
                    "Tensor(long int)", "Int", "Tensor(long int)",
                    "Tensor(long int)", "Int"])x",
                .values = R"([[1, 1, 0, 8192, 4, "cuda:0"],
                    [2, 2, 0, 640000, 4, "cuda:0"], [3, 3, 0, 2, 4, "cuda:0"],
                    [4, 4, 0, 2, 8, "cuda:0"], [5, 5, 0, 3, 4, "cuda:0"], 32,
                    [6, 6, 0, 3, 8, "cuda:0"], 15,
                    [7, 7, 0, 2560, 8, "cuda:0"],
                    [8, 8, 0, 257, 8, "cuda:0"], 0])"}),
      "embedding_bag tables=2 rows=20000 dim=32 batch=128 lookups=2560 "
      "dtype=fp32 pass=backward update=sgd max_dim=32");
}

TEST(EmbeddingTest, TheBackwardLearnsFromItsLookup) {
  EXPECT_EQ(ShapeOf({.kernel = kBackwardKernel, .ops = {kNode}}),
            "embedding_bag batch=2048 dtype=fp32 pass=backward "
            "update=rowwise_adagrad part=short_runs");
  EXPECT_EQ(
      ShapeOf({.kernel = kBackwardKernel, .ops = {kNode}, .partner = kLookup}),
      "embedding_bag tables=5 rows=5000 dim=96 batch=2048 lookups=169530 "
      "dtype=fp32 pass=backward update=rowwise_adagrad part=short_runs");
}

TEST(EmbeddingTest, TheLookupLearnsItsColumnsFromTheGradient) {
  // 64 columns in all over 2 tables; 112 / 32 is not an integer.
  const OpText dense = {
      .name = "fbgemm::dense_embedding_codegen_lookup_function",
      .dims = "[[224], [2], [3], [], [], [3], [], [32], [33], []]",
      .types = R"(["float", "long int", "int", "Scalar", "Scalar",
                   "long int", "Scalar", "long int", "long int", "Scalar"])"};
  EXPECT_EQ(
      ShapeOf({.kernel = "void dense_embedding_codegen_forward_unweighted_"
                         "kernel<float>()",
               .ops = {dense},
               .partner = {.name = "torch::autograd::CppNode<"
                                   "SplitLookupFunction_Dense_Op>",
                           .dims = "[[16, 64]]",
                           .types = R"(["float"])"}}),
      "embedding_bag tables=2 rows=7 dim=32 batch=16 lookups=32 dtype=fp32");
}

TEST(EmbeddingTest, TheKernelShowsTheWidestTable) {
  // 5 vectors of 4 floats in each of 32 threads.
  EXPECT_EQ(
      ShapeOf({.kernel = "void split_embedding_codegen_forward_unweighted_"
                         "kernel<float, float, float, long, 5ul>(int)",
               .ops = {kLookup}}),
      "embedding_bag tables=5 rows=5000 dim=96 batch=2048 lookups=169530 "
      "dtype=fp32 max_dim=640");
  // 2 vectors in each of 8 threads.
  EXPECT_EQ(
      ShapeOf({.kernel = "void split_embedding_backward_codegen_dense_"
                         "unweighted_kernel_cta_per_row_1<float, 2ul, 8>(int)",
               .ops = {kLookup}}),
      "embedding_bag tables=5 rows=5000 dim=96 batch=2048 lookups=169530 "
      "dtype=fp32 pass=backward part=long_runs max_dim=64");
}

TEST(EmbeddingTest, SortsAndIdArithmeticInsideTheBackwardKeepTheirFamily) {
  EXPECT_EQ(ShapeOf({.kernel = "void cub::DeviceRadixSortOnesweepKernel<int>()",
                     .ops = {kNode},
                     .partner = kLookup}),
            "sort elements=169530 dtype=int64");
  // The digits are counted before: every id is read, none is moved.
  EXPECT_EQ(
      ShapeOf({.kernel = "void cub::DeviceRadixSortHistogramKernel<int>()",
               .ops = {kNode},
               .partner = kLookup}),
      "sort kind=scan elements=169530 dtype=int64");
  // 169530 / 1920 = 88.3 blocks.
  for (const char* kernel :
       {"void cub::DeviceScanInitKernel<int>()",
        "void cub::DeviceRadixSortExclusiveSumKernel<int>()"}) {
    EXPECT_EQ(ShapeOf({.kernel = kernel, .ops = {kNode}, .partner = kLookup}),
              "sort kind=scan elements=89 dtype=int64");
  }
  // 8 bytes per id, in and out.
  EXPECT_EQ(
      ShapeOf({.kernel = "void linearize_index_kernel<long>()",
               .ops = {kNode},
               .partner = kLookup}),
      "elementwise elements=169530 read=1356240 written=1356240 dtype=int64");
}

TEST(EmbeddingTest, AtenTablesAreSingle) {
  EXPECT_EQ(
      ShapeOf({.kernel = "void at::native::(anonymous namespace)::"
                         "EmbeddingBag_updateOutputKernel_sum_mean<float>()",
               .ops = {{.name = "aten::_embedding_bag",
                        .dims = "[[1000, 64], [4096], [512], [], []]",
                        .types = R"(["float", "long int", "long int", "Scalar",
                                     "Scalar"])"}}}),
      "embedding_bag tables=1 rows=1000 dim=64 batch=512 lookups=4096 "
      "dtype=fp32 kernel=per_table");
  EXPECT_EQ(
      ShapeOf(
          {.kernel = "void at::native::(anonymous namespace)::"
                     "embedding_backward_feature_kernel<float, float>()",
           .ops = {{.name = "aten::embedding_dense_backward",
                    .dims = "[[8, 128, 768], [8, 128], [], [], []]",
                    .types = R"(["float", "long int", "Int", "Int", "Bool"])",
                    .values = R"(["", "", "30522", "0", "False"])"}}}),
      "embedding_bag tables=1 rows=30522 dim=768 batch=1024 lookups=1024 "
      "dtype=fp32 pass=backward pooled=false kernel=per_table");
}

}  // namespace
}  // namespace stepcast::trace
