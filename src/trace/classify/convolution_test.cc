#include <string>

#include <gtest/gtest.h>

#include "trace/classify/classify_testing.h"

namespace stepcast::trace {
namespace {

// cudnn_convolution(input, weight, padding, stride, dilation, groups, ...) as
// an execution trace records it.
constexpr OpText kForward = {
    .name = "aten::cudnn_convolution",
    .dims =
        "[[32, 3, 224, 224], [64, 3, 7, 7], [[], []], [[], []], [[], []], "
        "[], [], [], []]",
    .types = R"x(["Tensor(float)", "Tensor(float)", "GenericList[Int,Int]",
                 "GenericList[Int,Int]", "GenericList[Int,Int]", "Int", "Bool",
                 "Bool", "Bool"])x",
    .values = R"([[1, 1, 0, 4816896, 4, "cuda:0"], [2, 2, 0, 9408, 4, "cuda:0"],
                  [3, 3], [2, 2], [1, 1], 1, false, false, true])"};

// The same without values, from a profiler of 2021.
constexpr OpText kUnvalued = {
    .name = "aten::cudnn_convolution",
    .dims = "[[32, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], [], [], []]",
    .types = R"(["float", "float", "GenericList", "GenericList", "GenericList",
                 "Int", "Bool", "Bool", "Bool"])"};

constexpr OpText kBackward = {
    .name = "aten::convolution_backward",
    .dims =
        "[[32, 256, 28, 28], [32, 128, 56, 56], [256, 128, 3, 3], [], [], "
        "[], [], [], [], [], []]",
    .types = R"(["float", "float", "float", "ScalarList", "ScalarList",
                 "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar",
                 "ScalarList"])"};

TEST(ConvolutionTest, ReadsStrideAndPaddingWhereRecorded) {
  EXPECT_EQ(ShapeOf({.kernel = "cudnn_volta_scudnn_128x64_relu_small_nn_v1",
                     .ops = {kForward}}),
            "convolution batch=32 in_channels=3 height=224 width=224 "
            "out_channels=64 kernel_height=7 kernel_width=7 stride=2 padding=3 "
            "dtype=fp32");
}

TEST(ConvolutionTest, SolvesStrideFromTheSizeOfTheOutput) {
  // 56 -> 28 with a 3x3 filter: padding 1, stride 2.
  EXPECT_EQ(ShapeOf({.kernel = "void cudnn::cnn::wgrad_alg0_engine<float>()",
                     .ops = {kBackward}}),
            "convolution batch=32 in_channels=128 height=56 width=56 "
            "out_channels=256 kernel_height=3 kernel_width=3 stride=2 "
            "padding=1 dtype=fp32 pass=backward_weight");
  // 224 -> 112 with a 7x7 filter, known from the other pass.
  EXPECT_EQ(ShapeOf({.kernel = "cudnn_volta_scudnn_128x64_relu_small_nn_v1",
                     .ops = {kUnvalued},
                     .partner = {.name = "CudnnConvolutionBackward",
                                 .dims = "[[32, 64, 112, 112]]",
                                 .types = R"(["float"])"}}),
            "convolution batch=32 in_channels=3 height=224 width=224 "
            "out_channels=64 kernel_height=7 kernel_width=7 stride=2 padding=3 "
            "dtype=fp32");
}

TEST(ConvolutionTest, AnUnknownStrideIsNotInferred) {
  EXPECT_EQ(ShapeOf({.kernel = "cudnn_volta_scudnn_128x64_relu_small_nn_v1",
                     .ops = {kUnvalued}}),
            "convolution batch=32 in_channels=3 height=224 width=224 "
            "out_channels=64 kernel_height=7 kernel_width=7 stride=0 "
            "dtype=fp32");
}

TEST(ConvolutionTest, TheKernelShowsThePassAndElseTheOp) {
  const auto pass_of = [](std::string_view kernel) {
    const std::string text = ShapeOf({.kernel = kernel, .ops = {kBackward}});
    const size_t at = text.find("pass=");
    return at == std::string::npos ? "" : text.substr(at);
  };
  EXPECT_EQ(pass_of("void cudnn::detail::dgrad_engine<float, 512>()"),
            "pass=backward_data");
  EXPECT_EQ(pass_of("cudnn_volta_scudnn_128x64_stridedB_splitK_large_nn_v1"),
            "pass=backward_weight");
  EXPECT_EQ(pass_of("igemm_wrw_gtcx2_nhwc_bf16_bx0"), "pass=backward_weight");
  EXPECT_EQ(pass_of("volta_scudnn_winograd_128x128_ldg1_ldg4_tile148t_nt_v1"),
            "pass=backward");
}

TEST(ConvolutionTest, AProductInsideAConvolutionIsTheConvolution) {
  EXPECT_EQ(ShapeOf({.kernel = "volta_sgemm_64x64_nt", .ops = {kForward}})
                .substr(0, 20),
            "convolution batch=32");
  // Also where no shapes were recorded.
  EXPECT_EQ(ShapeOf({.kernel = "volta_sgemm_64x64_nt",
                     .ops = {{.name = "aten::convolution_backward"}}}),
            "convolution stride=0 pass=backward");
}

TEST(ConvolutionTest, GroupsFollowFromTheChannels) {
  // 64 channels in, 1 a filter: depth-wise.
  EXPECT_EQ(
      ShapeOf({.kernel = "void conv_depthwise2d_forward_kernel<float>()",
               .ops = {{.name = "aten::convolution",
                        .dims = "[[8, 64, 10, 10], [64, 1, 3, 3], [], [], [],"
                                " [], [], [], []]",
                        .types = R"(["float", "float", "", "ScalarList",
                            "ScalarList", "ScalarList", "Scalar", "ScalarList",
                            "Scalar"])",
                        .values = R"(["", "", "", "[1, 1]", "[1, 1]", "[1, 1]",
                            "False", "[0, 0]", "64"])"}}}),
      "convolution batch=8 in_channels=64 height=10 width=10 out_channels=64 "
      "kernel_height=3 kernel_width=3 padding=1 groups=64 dtype=fp32");
}

TEST(ConvolutionTest, HelpersChangeTheLayoutOfOneTensor) {
  // The input has 32 * 3 * 224 * 224 elements, the weight 64 * 3 * 7 * 7, the
  // output 32 * 64 * 112 * 112.
  EXPECT_EQ(ShapeOf({.kernel = "void cudnn::ops::nchwToNhwcKernel<float>()",
                     .ops = {kForward}}),
            "transpose elements=4816896 dtype=fp32");
  EXPECT_EQ(
      ShapeOf({.kernel =
                   "void cudnn::winograd_nonfused::winogradForwardFilter4x4<>",
               .ops = {kForward}}),
      "transpose elements=9408 dtype=fp32");
  EXPECT_EQ(
      ShapeOf({.kernel =
                   "void cudnn::winograd_nonfused::winogradForwardOutput4x4<>",
               .ops = {kForward}}),
      "transpose elements=25690112 dtype=fp32");
  EXPECT_EQ(ShapeOf({.kernel = "cask_cudnn::computeOffsetsKernel(cask_cudnn::"
                               "ComputeOffsetsParams)",
                     .ops = {kForward}}),
            "elementwise");
}

TEST(ConvolutionTest, AnExpectedBackwardIsTwoKernels) {
  const std::string shapes = ShapesOf(
      {.name = "aten::convolution_backward",
       .dims = "[[2, 8, 4, 4], [2, 4, 4, 4], [8, 4, 1, 1]]",
       .types = R"x(["Tensor(float)", "Tensor(float)", "Tensor(float)"])x",
       .values = R"([[1, 1, 0, 256, 4, "cuda:0"], [2, 2, 0, 128, 4, "cuda:0"],
                     [3, 3, 0, 32, 4, "cuda:0"]])"});
  const std::string numbers =
      "convolution batch=2 in_channels=4 height=4 width=4 out_channels=8 "
      "kernel_height=1 kernel_width=1 dtype=fp32 pass=backward_";
  EXPECT_EQ(shapes, numbers + "data; " + numbers + "weight");
}

TEST(ConvolutionTest, AProcessorsOwnBackwardHasItsMaskAndSizes) {
  // What PyTorch 1.13 runs for few images and small filters. The mask wants
  // the weights' gradient alone, as of a first layer.
  EXPECT_EQ(
      ShapesOf(
          {.name = "aten::_slow_conv2d_backward",
           .dims = "[[2, 8, 4, 4], [2, 4, 8, 8], [8, 4, 1, 1], [[], []], "
                   "[[], []], [[], []], [[], [], []]]",
           .types = R"x(["Tensor(float)", "Tensor(float)", "Tensor(float)",
                         "GenericList[Int,Int]", "GenericList[Int,Int]",
                         "GenericList[Int,Int]",
                         "GenericList[Bool,Bool,Bool]"])x",
           .values =
               R"([[1, 1, 0, 256, 4, "cuda:0"], [2, 2, 0, 512, 4, "cuda:0"],
                   [3, 3, 0, 32, 4, "cuda:0"], [1, 1], [2, 2], [0, 0],
                   [false, true, false]])"}),
      "convolution batch=2 in_channels=4 height=8 width=8 out_channels=8 "
      "kernel_height=1 kernel_width=1 stride=2 dtype=fp32 "
      "pass=backward_weight");
}

TEST(ConvolutionTest, AbsurdSizesAreIgnored) {
  EXPECT_EQ(ShapeOf({.kernel = "void cudnn::detail::dgrad_engine<float, 512>()",
                     .ops = {{.name = "aten::convolution_backward",
                              .dims = "[[1, 1, 9223372036854775807, 1], "
                                      "[1, 1, 9223372036854775807, 1], "
                                      "[1, 1, 9223372036854775807, 1]]",
                              .types = R"(["float", "float", "float"])"}}}),
            "convolution stride=0 pass=backward_data");
}

}  // namespace
}  // namespace stepcast::trace
