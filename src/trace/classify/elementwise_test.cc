#include <string>

#include <gtest/gtest.h>

#include "trace/classify/classify_testing.h"

namespace stepcast::trace {
namespace {

constexpr std::string_view kAdd =
    "void at::native::vectorized_elementwise_kernel<4, "
    "at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int)";

TEST(ElementwiseTest, OperandsAreReadAndTheResultIsWritten) {
  // Two inputs of 1024 * 512 floats, one output.
  EXPECT_EQ(
      ShapeOf({.kernel = kAdd,
               .ops = {{.name = "aten::add",
                        .dims = "[[1024, 512], [1024, 512], []]",
                        .types = R"(["float", "float", "Scalar"])"}}}),
      "elementwise elements=524288 read=4194304 written=2097152 dtype=fp32");
}

TEST(ElementwiseTest, BroadcastOperandsAreReadOnce) {
  // [64, 1, 8] + [32, 8] gives [64, 32, 8]: 4 * (512 + 256) bytes are read.
  EXPECT_EQ(ShapeOf({.kernel = kAdd,
                     .ops = {{.name = "aten::add",
                              .dims = "[[64, 1, 8], [32, 8], []]",
                              .types = R"(["float", "float", "Scalar"])"}}}),
            "elementwise elements=16384 read=3072 written=65536 dtype=fp32");
}

TEST(ElementwiseTest, ComparisonsWriteOneByte) {
  EXPECT_EQ(ShapeOf({.kernel = kAdd,
                     .ops = {{.name = "aten::ge",
                              .dims = "[[2048], []]",
                              .types = R"(["float", "Scalar"])"}}}),
            "elementwise elements=2048 read=8192 written=2048 dtype=bool");
}

TEST(ElementwiseTest, AScalarTensorDoesNotDecideTheType) {
  EXPECT_EQ(ShapeOf({.kernel = kAdd,
                     .ops = {{.name = "aten::mul",
                              .dims = "[[100], []]",
                              .types = R"(["c10::Half", "double"])"}}}),
            "elementwise elements=100 read=208 written=200 dtype=fp16");
}

TEST(ElementwiseTest, APlaceForTheResultIsNotRead) {
  EXPECT_EQ(
      ShapeOf({.kernel = kAdd,
               .ops = {{.name = "aten::nan_to_num",
                        .dims = "[[1024, 64], [], [], [], [1024, 64]]",
                        .types = R"(["float", "Scalar", "", "", "float"])"}}}),
      "elementwise elements=65536 read=262144 written=262144 dtype=fp32");
}

TEST(ElementwiseTest, RecordedOutputsAreBetterThanDeduction) {
  // native_dropout writes the result and a mask of bytes.
  EXPECT_EQ(
      ShapeOf({.kernel = "void at::native::(anonymous namespace)::"
                         "fused_dropout_kernel_vec<float>()",
               .ops = {{.name = "aten::native_dropout",
                        .dims = "[[256], [], []]",
                        .types = R"x(["Tensor(float)", "Double", "Bool"])x",
                        .out_dims = "[[256], [256]]",
                        .out_types = R"x(["Tensor(float)",
                                               "Tensor(bool)"])x"}}}),
      "elementwise elements=256 read=1024 written=1280 dtype=fp32");
}

TEST(ElementwiseTest, ViewsAndAllocationsInsideAreSkipped) {
  EXPECT_EQ(
      ShapeOf(
          {.kernel = kAdd,
           .ops = {{.name = "aten::empty", .dims = "[[]]", .types = R"([""])"},
                   {.name = "aten::add_",
                    .dims = "[[10], [10], []]",
                    .types = R"(["float", "float", "Scalar"])"}}}),
      "elementwise elements=10 read=80 written=40 dtype=fp32");
}

TEST(ElementwiseTest, WrappersDoNotLendTheirArguments) {
  // A captured graph: the function's parameters say nothing about one kernel.
  EXPECT_EQ(ShapeOf({.kernel = kAdd,
                     .ops = {{.name = "CompiledFunction",
                              .dims = "[[128, 440], [128]]",
                              .types = R"(["float", "float"])"}}}),
            "elementwise");
  EXPECT_EQ(ShapeOf({.kernel = kAdd,
                     .ops = {{.name = "MyAutogradFunction",
                              .dims = "[[128]]",
                              .types = R"(["float"])"}}}),
            "elementwise");
}

TEST(ElementwiseTest, OperandsThatDoNotFitTogetherStayUnknown) {
  EXPECT_EQ(ShapeOf({.kernel = kAdd,
                     .ops = {{.name = "aten::pow",
                              .dims = "[[512, 2842], [2048, 1421]]",
                              .types = R"(["float", "float"])"}}}),
            "elementwise");
}

TEST(ElementwiseTest, TritonKernelsListInputsAndOutputs) {
  EXPECT_EQ(
      ShapeOf({.kernel = "triton_poi_fused_add_cos_sin_0",
               .ops = {{.name = "triton_poi_fused_add_cos_sin_0",
                        .dims = "[[10, 10], [10, 10], [10, 10], []]",
                        .types = R"(["float", "float", "float", "Scalar"])",
                        .values = R"(["", "", "", "100"])"}}}),
      "elementwise elements=100 read=800 written=400 dtype=fp32");
}

TEST(TransposeTest, StridedCopiesChangeTheLayout) {
  constexpr std::string_view kStrided =
      "void at::native::elementwise_kernel<128, 2, "
      "at::native::gpu_kernel_impl<"
      "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)>()>";
  EXPECT_EQ(ShapeOf({.kernel = kStrided,
                     .ops = {{.name = "aten::copy_",
                              .dims = "[[64, 32], [64, 32], []]",
                              .types = R"(["float", "float", "Scalar"])"}}}),
            "transpose elements=2048 dtype=fp32");
  // In addmm it is the bias, copied to all 16 rows before the product.
  EXPECT_EQ(ShapeOf({.kernel = kStrided,
                     .ops = {{.name = "aten::addmm",
                              .dims = "[[256], [16, 13], [13, 256], [], []]",
                              .types = R"(["float", "float", "float", "Scalar",
                                     "Scalar"])"}}}),
            "elementwise elements=4096 read=16384 written=16384 dtype=fp32");
}

TEST(TransposeTest, ACastIsElementwise) {
  // 4 bytes in, 8 bytes out.
  EXPECT_EQ(ShapeOf({.kernel = "void at::native::unrolled_elementwise_kernel<"
                               "at::native::direct_copy_kernel_cuda()>(int)",
                     .ops = {{.name = "aten::copy_",
                              .dims = "[[416], [416], []]",
                              .types = R"(["long int", "int", "Scalar"])"}}}),
            "elementwise elements=416 read=1664 written=3328 dtype=int64");
}

}  // namespace
}  // namespace stepcast::trace
