#include <string>

#include <gtest/gtest.h>

#include "trace/classify/classify_testing.h"

namespace stepcast::trace {
namespace {

constexpr std::string_view kThreeFloats =
    R"(["float", "float", "float", "Scalar", "Scalar"])";
constexpr std::string_view kTwoFloats = R"(["float", "float"])";

TEST(GemmTest, OpsKeepTheirFactorsInDifferentPlaces) {
  // addmm(bias, a [16, 13], b [13, 256]); the kernel reads b transposed.
  EXPECT_EQ(ShapeOf({.kernel = "volta_sgemm_32x32_sliced1x4_tn",
                     .ops = {{.name = "aten::addmm",
                              .dims = "[[256], [16, 13], [13, 256], [], []]",
                              .types = kThreeFloats}}}),
            "gemm batch=1 m=16 n=256 k=13 transpose_b=true dtype=fp32");
  // The gradient of a weight: mm(grad^T [512, 16], x [16, 367]).
  EXPECT_EQ(ShapeOf({.kernel = "volta_sgemm_128x32_nt",
                     .ops = {{.name = "aten::mm",
                              .dims = "[[512, 16], [16, 367]]",
                              .types = kTwoFloats}}}),
            "gemm batch=1 m=512 n=367 k=16 transpose_a=true dtype=fp32");
  EXPECT_EQ(ShapeOf({.kernel = "volta_sgemm_32x128_nn",
                     .ops = {{.name = "aten::bmm",
                              .dims = "[[16, 27, 16], [16, 16, 27]]",
                              .types = kTwoFloats}}}),
            "gemm batch=16 m=27 n=27 k=16 dtype=fp32");
  EXPECT_EQ(ShapeOf({.kernel = "ampere_sgemm_128x128_nn",
                     .ops = {{.name = "aten::baddbmm",
                              .dims = "[[8, 1, 5], [8, 3, 4], [8, 4, 5]]",
                              .types = R"(["float", "float", "float"])"}}}),
            "gemm batch=8 m=3 n=5 k=4 dtype=fp32");
}

TEST(GemmTest, LeadingDimensionsBecomeRows) {
  // linear(x [8, 10, 64], w [32, 64]): 80 rows, w transposed.
  EXPECT_EQ(ShapesOf({.name = "aten::linear",
                      .dims = "[[8, 10, 64], [32, 64]]",
                      .types = R"x(["Tensor(float)", "Tensor(float)"])x",
                      .values = R"([[1, 1, 0, 5120, 4, "cuda:0"],
                                    [2, 2, 0, 2048, 4, "cuda:0"]])"}),
            "gemm batch=1 m=80 n=32 k=64 transpose_b=true dtype=fp32");
  EXPECT_EQ(ShapeOf({.kernel = "some_gemm",
                     .ops = {{.name = "aten::matmul",
                              .dims = "[[2, 3, 4, 5], [2, 3, 5, 6]]",
                              .types = kTwoFloats}}}),
            "gemm batch=6 m=4 n=6 k=5 dtype=fp32");
}

TEST(GemmTest, VectorsAreMatricesOfOneColumn) {
  EXPECT_EQ(ShapeOf({.kernel = "void gemv2T_kernel_val<int, int, float>()",
                     .ops = {{.name = "aten::addmv",
                              .dims = "[[7], [7, 3], [3]]",
                              .types = R"(["float", "float", "float"])"}}}),
            "gemm batch=1 m=7 n=1 k=3 dtype=fp32");
  EXPECT_EQ(ShapeOf({.kernel = "void dot_kernel<float, 128>()",
                     .ops = {{.name = "aten::dot",
                              .dims = "[[9], [9]]",
                              .types = kTwoFloats}}}),
            "gemm batch=1 m=1 n=1 k=9 dtype=fp32");
}

TEST(GemmTest, TheKernelShowsTf32AndTheArgumentsTheRest) {
  constexpr std::string_view kDims = "[[64, 32], [32, 16]]";
  EXPECT_EQ(
      ShapeOf(
          {.kernel = "cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_"
                     "align4",
           .ops = {{.name = "aten::mm", .dims = kDims, .types = kTwoFloats}}}),
      "gemm batch=1 m=64 n=16 k=32 dtype=tf32");
  // Half-precision operands stay what they are.
  EXPECT_EQ(ShapeOf({.kernel = "turing_fp16_s1688gemm_fp16_128x128_ldg8_tn",
                     .ops = {{.name = "aten::mm",
                              .dims = kDims,
                              .types = R"(["c10::Half", "c10::Half"])"}}}),
            "gemm batch=1 m=64 n=16 k=32 transpose_b=true dtype=fp16");
}

TEST(GemmTest, WithoutArgumentsTheNameShowsTypeAndLayout) {
  EXPECT_EQ(ShapeOf({.kernel = "volta_sgemm_128x64_nt"}),
            "gemm transpose_a=true dtype=fp32");
  EXPECT_EQ(ShapeOf({.kernel = "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_MT32x32"}),
            "gemm transpose_b=true dtype=bf16");
  EXPECT_EQ(ShapeOf({.kernel = "Cijk_Ailk_Bjlk_SB_Bias_AS_SAV_MT64x16"}),
            "gemm transpose_a=true dtype=fp32");
  EXPECT_EQ(ShapeOf({.kernel = "triton_tem_fused_addmm_relu_5"}), "gemm");
}

TEST(GemmTest, FactorsThatDoNotFitStayUnknown) {
  EXPECT_EQ(ShapeOf({.kernel = "volta_sgemm_128x64_nn",
                     .ops = {{.name = "aten::mm",
                              .dims = "[[4, 5], [6, 7]]",
                              .types = kTwoFloats}}}),
            "gemm dtype=fp32");
  EXPECT_EQ(ShapeOf({.kernel = "volta_sgemm_128x64_nn",
                     .ops = {{.name = "aten::mm",
                              .dims = "[[], []]",
                              .types = kTwoFloats}}}),
            "gemm dtype=fp32");
}

TEST(GemmTest, AHelperKeepsItsOwnFamily) {
  // Two parts of [128, 256] are summed; into how many is not recorded.
  EXPECT_EQ(ShapeOf({.kernel = "void splitKreduce_kernel<32, 16, int, float>()",
                     .ops = {{.name = "aten::mm",
                              .dims = "[[128, 16], [16, 256]]",
                              .types = kTwoFloats}}}),
            "reduction outputs=32768 dtype=fp32");
  // 4 * 128 * 256 bytes in and out.
  EXPECT_EQ(
      ShapeOf({.kernel = "void epilogue::impl::globalKernel<float, float>()",
               .ops = {{.name = "aten::addmm",
                        .dims = "[[256], [128, 16], [16, 256], [], []]",
                        .types = kThreeFloats}}}),
      "elementwise elements=32768 read=131072 written=131072 dtype=fp32");
}

}  // namespace
}  // namespace stepcast::trace
