#include "learn/measured/authors_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::learn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two tables and 2 x 3 = 6 features' products: 3 a sample.
AuthorsModel Small() {
  return {.batch = 4,
          .bottom = {5, 8},
          .top = {11, 1},
          .table_rows = {100, 10},
          .dim = 8,
          .lookups = 2};
}

AuthorsRow Row(std::string op, int64_t instance, std::string kernel,
               double time_us, int64_t count = 1) {
  return {.path = op,
          .op = op,
          .op_instance = instance,
          .kernel = std::move(kernel),
          .kernel_count = count,
          .time_us = time_us};
}

std::vector<std::string> Texts(const std::vector<AuthorsRow>& rows) {
  const auto kernels = KernelsOf(rows, Small());
  EXPECT_TRUE(kernels.has_value()) << kernels.error().message;
  std::vector<std::string> texts;
  for (const TracedKernels& traced : *kernels) {
    std::string text;
    for (const ir::KernelShape& shape : traced.shapes) {
      text += ir::ShapeText(shape) + "; ";
    }
    texts.push_back(text + std::to_string(static_cast<int>(traced.time_us)));
  }
  return texts;
}

TEST(AuthorsKernels, LayersFollowOneAnother) {
  EXPECT_THAT(
      Texts({Row("aten::linear", 1, "unrolled_elementwise_kernel", 3),
             Row("aten::linear", 1, "Memset (Device)", 1),
             Row("aten::linear", 1, "volta_sgemm_128x32_tn", 10),
             Row("aten::relu", 2, "vectorized_elementwise_kernel", 4),
             Row("aten::linear", 3, "gemv2T_kernel_val", 5)}),
      ElementsAre("elementwise elements=32 read=32 written=128 dtype=fp32; 3",
                  "gemm batch=1 m=4 n=8 k=5 transpose_b=true dtype=fp32; 11",
                  "elementwise elements=32 read=128 written=128 dtype=fp32; 4",
                  "gemm batch=1 m=4 n=1 k=11 transpose_b=true dtype=fp32; 5"));
}

TEST(AuthorsKernels, GradientsComeBackwards) {
  EXPECT_THAT(
      Texts({Row("AddmmBackward", 1, "gemmk1_kernel", 4),
             Row("AddmmBackward", 1, "gemvNSP_kernel", 8),
             Row("aten::sum", 2, "reduce_kernel", 6),
             Row("torch::autograd::AccumulateGrad", 3, "v", 1),
             Row("torch::autograd::AccumulateGrad", 4, "v", 2),
             Row("ReluBackward0", 5, "v", 3),
             Row("AddmmBackward", 6, "volta_sgemm_32x128_nt", 9),
             Row("aten::sum", 7, "Memset (Device)", 1),
             Row("aten::sum", 7, "reduce_kernel", 10)}),
      ElementsAre(
          "gemm batch=1 m=4 n=11 k=1 dtype=fp32; gemm batch=1 m=1 n=11 k=4 "
          "transpose_a=true dtype=fp32; 12",
          "reduction inputs=4 outputs=1 dtype=fp32; 6",
          "elementwise elements=1 read=8 written=4 dtype=fp32; 1",
          "elementwise elements=11 read=88 written=44 dtype=fp32; 2",
          "elementwise elements=32 read=256 written=128 dtype=fp32; 3",
          "gemm batch=1 m=8 n=5 k=4 transpose_a=true dtype=fp32; 9",
          "reduction inputs=32 outputs=8 dtype=fp32 strided=true; 10"));
}

TEST(AuthorsKernels, CopiesBringIdsOffsetsAndFeatures) {
  const std::string pinned = "Memcpy HtoD (Pinned -> Device)";
  AuthorsRow triangle =
      Row("aten::to", 4, "Memcpy HtoD (Pageable -> Device)", 1);
  triangle.path = "DLRM forward > interaction > aten::to";
  EXPECT_THAT(
      Texts({Row("aten::to", 1, pinned, 5), Row("aten::to", 2, pinned, 6),
             Row("aten::to", 3, pinned, 7), triangle}),
      ElementsAre("copy kind=host_to_device bytes=64 pinned=true; 5",
                  "copy kind=host_to_device bytes=36 pinned=true; 6",
                  "copy kind=host_to_device bytes=80 pinned=true; 7",
                  "copy kind=host_to_device bytes=24; 1"));
}

TEST(AuthorsKernels, LookupsKnowTheirTables) {
  EXPECT_THAT(
      Texts({Row("LookupFunction", 1, "batched_embedding_forward", 50),
             Row("LookupFunctionBackward", 2, "batched_embedding_bwd", 99)}),
      ElementsAre(
          "embedding_bag tables=2 rows=110 dim=8 batch=4 lookups=16 dtype=fp32 "
          "index_dtype=int32 kernel=atomic longest_bag=2 table_rows=100,10; "
          "50",
          "embedding_bag tables=2 rows=110 dim=8 batch=4 lookups=16 dtype=fp32 "
          "pass=backward update=sgd index_dtype=int32 kernel=atomic "
          "longest_bag=2 table_rows=100,10; 99"));
}

TEST(AuthorsKernels, TheTriangleIsSortedAndScattered) {
  EXPECT_THAT(
      Texts({Row("aten::index", 1, "index_elementwise_kernel", 8),
             Row("IndexBackward", 2, "vectorized_elementwise_kernel", 9, 2),
             Row("IndexBackward", 2, "DeviceRadixSortSingleTileKernel", 11),
             Row("IndexBackward", 2, "indexing_backward_kernel", 40)}),
      ElementsAre(
          "index elements=12 source=36 slice=1 dtype=fp32; 8",
          "fill bytes=144; elementwise elements=3 read=24 written=24 "
          "dtype=int64; 9",
          "sort elements=3 dtype=int64; 11",
          "index elements=12 source=36 scatter=true accumulate=true slice=1 "
          "dtype=fp32; 40"));
}

TEST(AuthorsKernels, TheOptimizerVisitsEveryParameter) {
  EXPECT_THAT(
      Texts({Row("Optimizer.step#SGD.step", 1, "vectorized", 80, 4)}),
      ElementsAre("optimizer_step update=sgd tensors=1 elements=40 dtype=fp32; "
                  "optimizer_step update=sgd tensors=1 elements=8 dtype=fp32; "
                  "optimizer_step update=sgd tensors=1 elements=11 dtype=fp32; "
                  "optimizer_step update=sgd tensors=1 elements=1 dtype=fp32; "
                  "80"));
}

TEST(AuthorsKernels, RefusesWhatTheModelDoesNotHave) {
  const std::vector<AuthorsRow> unknown = {Row("aten::conv2d", 1, "k", 1)};
  const auto op = KernelsOf(unknown, Small());
  ASSERT_FALSE(op.has_value());
  EXPECT_THAT(op.error().message, HasSubstr("aten::conv2d"));
  const std::vector<AuthorsRow> deep = {Row("aten::linear", 1, "k", 1),
                                        Row("aten::linear", 2, "k", 1),
                                        Row("aten::linear", 3, "k", 1)};
  const auto layers = KernelsOf(deep, Small());
  ASSERT_FALSE(layers.has_value());
  EXPECT_THAT(layers.error().message, HasSubstr("more layers"));
}

TracedKernels Timed(const ir::KernelShape& shape, double time_us) {
  return {.iteration = 0, .op = "op", .shapes = {shape}, .time_us = time_us};
}

TEST(RecorderLatency, IsTheMedianOfSmallElementwiseKernels) {
  const ir::Elementwise small{.elements = 8, .read = {32}, .written = {32}};
  const ir::Elementwise large{
      .elements = 1 << 20, .read = {1 << 22}, .written = {1 << 22}};
  const std::vector<TracedKernels> kernels = {Timed(small, 1), Timed(small, 3),
                                              Timed(small, 2), Timed(large, 50),
                                              Timed(ir::Fill{{4}}, 9)};
  EXPECT_EQ(SmallestKernelUs(kernels), 2);
}

TEST(RecorderLatency, IsUnknownWithoutSuchKernels) {
  EXPECT_EQ(SmallestKernelUs({}), 0);
}

}  // namespace
}  // namespace stepcast::learn
