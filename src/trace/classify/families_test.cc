// The families that have no test file of their own.
#include <string>

#include <gtest/gtest.h>

#include "trace/classify/classify_testing.h"

namespace stepcast::trace {
namespace {

constexpr std::string_view kReduce =
    "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<float> >()";

TEST(ReductionTest, TheAxesShowWhatIsLeft) {
  // [8, 16, 32] without axis 1.
  EXPECT_EQ(ShapeOf({.kernel = kReduce,
                     .ops = {{.name = "aten::sum",
                              .dims = "[[8, 16, 32], [], [], []]",
                              .types = R"(["float", "ScalarList", "Scalar",
                                           ""])",
                              .values = R"(["", "[-2]", "False", ""])"}}}),
            "reduction inputs=4096 outputs=256 dtype=fp32 strided=true");
  EXPECT_EQ(ShapeOf({.kernel = kReduce,
                     .ops = {{.name = "aten::mean",
                              .dims = "[[16], []]",
                              .types = R"(["float", ""])"}}}),
            "reduction inputs=16 outputs=1 dtype=fp32");
  EXPECT_EQ(ShapeOf({.kernel = kReduce,
                     .ops = {{.name = "aten::sum",
                              .dims = "[[8, 16], [], [], []]",
                              .types = R"(["float", "", "Scalar", ""])",
                              .out_dims = "[[1, 16]]",
                              .out_types = R"x(["Tensor(float)"])x"}}}),
            "reduction inputs=128 outputs=16 dtype=fp32");
}

TEST(ReductionTest, HiddenAxesAreKnownForTheGradientOfABias) {
  constexpr OpText kSum = {.name = "aten::sum",
                           .dims = "[[1024, 512], [], [], []]",
                           .types = R"(["float", "", "Scalar", ""])"};
  EXPECT_EQ(ShapeOf({.kernel = kReduce,
                     .ops = {kSum,
                             {.name = "autograd::engine::evaluate_function: "
                                      "AddmmBackward0"}}}),
            "reduction inputs=524288 outputs=512 dtype=fp32 strided=true");
  EXPECT_EQ(ShapeOf({.kernel = kReduce, .ops = {kSum}}),
            "reduction inputs=524288 dtype=fp32");
}

TEST(SoftmaxTest, RunsAlongTheLastDimensionUnlessGiven) {
  EXPECT_EQ(ShapeOf({.kernel = "void (anonymous namespace)::"
                               "softmax_warp_forward<float, float, 10>()",
                     .ops = {{.name = "aten::_log_softmax",
                              .dims = "[[32, 1000], [], []]",
                              .types = R"(["float", "Int", "Bool"])"}}}),
            "softmax rows=32 columns=1000 dtype=fp32");
  EXPECT_EQ(
      ShapeOf({.kernel = "void softmax_warp_backward<float, float, 10>()",
               .ops = {{.name = "aten::_softmax_backward_data",
                        .dims = "[[4, 5, 6], [4, 5, 6], [], []]",
                        .types = R"(["float", "float", "Scalar", "Scalar"])",
                        .values = R"(["", "", "1", "6"])"}}}),
      "softmax rows=24 columns=5 dtype=fp32 pass=backward");
}

TEST(NormalizationTest, LayerNormHasTheWeightsColumns) {
  EXPECT_EQ(ShapeOf({.kernel = "void at::native::(anonymous namespace)::"
                               "vectorized_layer_norm_kernel<float, float>()",
                     .ops = {{.name = "aten::native_layer_norm",
                              .dims = "[[8, 128, 512], [], [512], [512], []]",
                              .types = R"(["float", "", "float", "float",
                                     "Scalar"])"}}}),
            "normalization rows=1024 columns=512 dtype=fp32");
  EXPECT_EQ(
      ShapeOf({.kernel = "void at::native::(anonymous namespace)::"
                         "layer_norm_grad_input_kernel<float, float>()",
               .ops = {{.name = "aten::native_layer_norm_backward",
                        .dims = "[[1024, 512], [1024, 512], [], [1024, 1], "
                                "[1024, 1], [512], [512], []]",
                        .types = R"(["float", "float", "", "float", "float",
                                     "float", "float", ""])"}}}),
      "normalization rows=1024 columns=512 dtype=fp32 pass=backward");
}

TEST(NormalizationTest, BatchNormHasARowForEachChannel) {
  // 32 * 56 * 56 numbers per channel.
  EXPECT_EQ(
      ShapeOf({.kernel = "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float>()",
               .ops = {{.name = "aten::cudnn_batch_norm",
                        .dims = "[[32, 64, 56, 56], [64], [64], [64], [64]]",
                        .types = R"(["float", "float", "float", "float",
                                     "float"])"}}}),
      "normalization kind=batch rows=64 columns=100352 dtype=fp32");
}

TEST(NormalizationTest, GroupNormHasARowForEachGroup) {
  EXPECT_EQ(
      ShapeOf({.kernel = "void at::native::(anonymous namespace)::"
                         "ComputeFusedParamsCUDAKernel<float>()",
               .ops = {{.name = "aten::native_group_norm",
                        .dims = "[[2, 32, 8, 8], [32], [32], [], [], [], [], "
                                "[]]",
                        .types = R"(["float", "float", "float", "Scalar",
                            "Scalar", "Scalar", "Scalar", "Scalar"])",
                        .values = R"(["", "", "", "2", "32", "64", "4",
                                      "1e-05"])"}}}),
      "normalization kind=group rows=8 columns=512 dtype=fp32");
}

TEST(PoolingTest, ComputesTheOutputFromTheWindow) {
  // 112 + 2 - 3 = 111, halved and plus one: 56.
  EXPECT_EQ(ShapeOf({.kernel = "void at::native::(anonymous namespace)::"
                               "max_pool_forward_nchw<float, float>()",
                     .ops = {{.name = "aten::max_pool2d_with_indices",
                              .dims = "[[2, 4, 112, 112], [], [], [], [], []]",
                              .types = R"(["float", "ScalarList", "ScalarList",
                            "ScalarList", "ScalarList", "Scalar"])",
                              .values = R"(["", "[3, 3]", "[2, 2]", "[1, 1]",
                                      "[1, 1]", "False"])"}}}),
            "pooling inputs=100352 outputs=25088 window=9 dtype=fp32");
  EXPECT_EQ(
      ShapeOf({.kernel = "void at::native::(anonymous namespace)::"
                         "max_pool_backward_nchw<float, float>()",
               .ops = {{.name = "aten::max_pool2d_with_indices_backward",
                        .dims = "[[2, 4, 56, 56], [2, 4, 112, 112], []]",
                        .types = R"(["float", "float", "GenericList"])"}}}),
      "pooling inputs=100352 outputs=25088 dtype=fp32 pass=backward");
}

TEST(AttentionTest, HeadersComeBeforeOrAfterTheLength) {
  EXPECT_EQ(ShapeOf({.kernel = "void pytorch_flash::flash_fwd_kernel<64>()",
                     .ops = {{.name = "aten::_flash_attention_forward",
                              .dims = "[[1, 141, 8, 64], [1, 99, 8, 64], "
                                      "[1, 99, 8, 64]]",
                              .types = R"(["c10::BFloat16", "c10::BFloat16",
                                     "c10::BFloat16"])"}}}),
            "attention batch=1 heads=8 queries=141 keys=99 dim=64 dtype=bf16");
  EXPECT_EQ(
      ShapeOf({.kernel = "attn_bwd_kernel",
               .ops = {{.name = "aten::_scaled_dot_product_flash_attention_"
                                "backward",
                        .dims = "[[2, 8, 32, 64], [2, 8, 32, 64], "
                                "[2, 8, 48, 64], [2, 8, 48, 64]]",
                        .types = R"(["float", "float", "float", "float"])"}}}),
      "attention batch=2 heads=8 queries=32 keys=48 dim=64 dtype=fp32 "
      "pass=backward");
}

TEST(InteractionTest, TakesTheFeaturesOfEverySample) {
  EXPECT_EQ(ShapeOf({.kernel = "dotBasedInteractFwdKernel",
                     .ops = {{.name = "dlrm::dotBasedInteractFwd",
                              .dims = "[[2048, 27, 128], [2048, 128]]",
                              .types = R"(["c10::Half", "c10::Half"])"}}}),
            "interaction batch=2048 features=27 dim=128 dtype=fp16");
}

TEST(IndexTest, EachOpMovesWhatItsIndexSays) {
  constexpr std::string_view kGather =
      "void at::native::(anonymous "
      "namespace)::indexSelectLargeIndex<float>()";
  // 6 slices of [10, 32] along axis 1.
  EXPECT_EQ(ShapeOf({.kernel = kGather,
                     .ops = {{.name = "aten::index_select",
                              .dims = "[[10, 4, 32], [], [6]]",
                              .types = R"(["float", "Scalar", "long int"])",
                              .values = R"(["", "1", ""])"}}}),
            "index elements=1920 source=1280 slice=32 dtype=fp32");
  EXPECT_EQ(ShapeOf({.kernel = "void indexing_backward_kernel<float, 4>()",
                     .ops = {{.name = "aten::_index_put_impl_",
                              .dims = "[[16, 27, 27], [], [16, 351], [], []]",
                              .types = R"(["float", "", "float", "Scalar",
                                           "Scalar"])"}}}),
            "index elements=5616 source=11664 scatter=true dtype=fp32");
  // Only the recorded output shows how many elements index reads.
  EXPECT_EQ(ShapeOf({.kernel = "void at::native::index_elementwise_kernel<128>",
                     .ops = {{.name = "aten::index",
                              .dims = "[[16, 27, 27], [[], [351]]]",
                              .types = R"x(["Tensor(float)",
                                  "GenericList[None,Tensor(long int)]"])x",
                              .out_dims = "[[16, 351]]",
                              .out_types = R"x(["Tensor(float)"])x"}}}),
            "index elements=5616 source=11664 dtype=fp32");
}

TEST(IndexTest, SparsePermutesMoveLengthsAndValues) {
  constexpr OpText kPermute = {
      .name = "fbgemm::permute_2D_sparse_data",
      .dims = "[[24], [24, 16], [768], [], []]",
      .types = R"(["int", "int", "long int", "", "Scalar"])"};
  EXPECT_EQ(ShapeOf({.kernel = "void fbgemm_gpu::permute_2D_lengths_kernel<>",
                     .ops = {kPermute}}),
            "index elements=384 source=384 dtype=int32");
  EXPECT_EQ(ShapeOf({.kernel = "void fbgemm_gpu::permute_2D_data_kernel<>",
                     .ops = {kPermute}}),
            "index elements=768 source=768 dtype=int64");
  EXPECT_EQ(ShapeOf({.kernel = "void cub::DeviceScanKernel<int>()",
                     .ops = {kPermute}}),
            "sort kind=scan elements=384 dtype=int32");
}

TEST(SortTest, TheOpSaysHowMany) {
  EXPECT_EQ(ShapeOf({.kernel = "void cub::DeviceScanKernel<int>()",
                     .ops = {{.name = "fbgemm::asynchronous_complete_cumsum",
                              .dims = "[[10240]]",
                              .types = R"(["int"])"}}}),
            "sort kind=scan elements=10240 dtype=int32");
  EXPECT_EQ(ShapeOf({.kernel = "void cub::DeviceReduceByKeyKernel<int>()"}),
            "sort kind=unique");
}

TEST(ConcatTest, CountsTensorsAndElements) {
  constexpr OpText kCat = {
      .name = "aten::cat",
      .dims = "[[[16, 16], [16, 351]], []]",
      .types = R"(["GenericList[Tensor(float),Tensor(float)]", "Int"])"};
  constexpr std::string_view kKernel =
      "void at::native::(anonymous "
      "namespace)::CatArrayBatchedCopy<float>()";
  EXPECT_EQ(ShapeOf({.kernel = kKernel, .ops = {kCat}}),
            "concat tensors=2 elements=5872 dtype=fp32");
  // Two launches share the list.
  EXPECT_EQ(ShapeOf({.kernel = kKernel, .ops = {kCat}, .siblings = 2}),
            "concat tensors=1 elements=2936 dtype=fp32");
  // The list is hidden, but its gradient is known.
  EXPECT_EQ(ShapeOf({.kernel = kKernel,
                     .ops = {{.name = "aten::cat",
                              .dims = "[[], []]",
                              .types = R"(["TensorList", "Scalar"])"}},
                     .partner = {.name = "CatBackward0",
                                 .dims = "[[16, 367]]",
                                 .types = R"(["float"])"}}),
            "concat elements=5872 dtype=fp32");
}

TEST(OptimizerTest, CountsTheFirstListAndNamesTheUpdate) {
  EXPECT_EQ(
      ShapeOf({.kernel = "void at::native::(anonymous namespace)::"
                         "multi_tensor_apply_kernel<FusedOptimizerTensorList, "
                         "FusedAdamMathFunctor<float, 4> >()",
               .ops = {{.name = "aten::_fused_adam_",
                        .dims = "[[[128, 128], [128]], [[128, 128], [128]]]",
                        .types = R"(["GenericList[Tensor(float),Tensor(float)]",
                            "GenericList[Tensor(float),Tensor(float)]"])"}}}),
      "optimizer_step update=adam tensors=2 elements=16512 dtype=fp32");
  EXPECT_EQ(
      ShapeOf({.kernel = "void at::native::(anonymous namespace)::"
                         "multi_tensor_apply_kernel<TensorListMetadata<2>, "
                         "BinaryOpListAlphaFunctor<float> >()",
               .ops = {{.name = "aten::_foreach_add_",
                        .dims = "[[[128, 128], [128]], [[128, 128], [128]], "
                                "[]]",
                        .types = R"(["TensorList", "TensorList",
                                     "Scalar"])"}}}),
      "optimizer_step tensors=2 elements=16512 dtype=fp32");
}

TEST(FillTest, IsTheSizeOfTheTensor) {
  EXPECT_EQ(ShapeOf({.kernel = "void at::native::vectorized_elementwise_kernel<"
                               "4, at::native::FillFunctor<float> >()",
                     .ops = {{.name = "aten::fill_",
                              .dims = "[[100, 10], []]",
                              .types = R"(["float", "Scalar"])"}}}),
            "fill bytes=4000");
}

TEST(RandomTest, IsTheSizeOfTheTensor) {
  EXPECT_EQ(
      ShapeOf({.kernel = "void at::native::(anonymous namespace)::"
                         "distribution_elementwise_grid_stride_kernel<float>()",
               .ops = {{.name = "aten::uniform_",
                        .dims = "[[100, 10], [], [], []]",
                        .types = R"(["float", "Scalar", "Scalar", ""])"}}}),
      "random elements=1000 dtype=fp32");
}

}  // namespace
}  // namespace stepcast::trace
