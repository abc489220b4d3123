#include "learn/measured/aten_shape.h"

#include <gtest/gtest.h>

#include "base/check.h"

namespace stepcast::learn {
namespace {

const trace::Rules& BuiltInRules() {
  static const Result<trace::Rules> rules = trace::Rules::Load();
  CHECK(rules.has_value()) << rules.error().message;
  return *rules;
}

std::string Join(const std::vector<ir::KernelShape>& shapes) {
  std::string text;
  for (const ir::KernelShape& shape : shapes) {
    text += (text.empty() ? "" : "; ") + ir::ShapeText(shape);
  }
  return text;
}

std::string Aten(const AtenRow& row) {
  return Join(ShapesOf(row, BuiltInRules()));
}

TEST(AtenShape, ReadsAProductWithABias) {
  EXPECT_EQ(Aten({.op = "addmm",
                  .dtype = "bf16",
                  .input_dims = "[[64];[8;32];[32;64];[];[]]",
                  .input_strides = "((1;);(32;1);(1;32);();())",
                  .concrete_inputs = "('';'';'';'1';'1')",
                  .kernel_names = "Memset+some_gemm"}),
            "gemm batch=1 m=8 n=64 k=32 dtype=bf16");
}

TEST(AtenShape, CountsWhatIsRepeatedOnce) {
  // [4, 8] / [4, 8], the second expanded from [1, 8].
  EXPECT_EQ(Aten({.op = "add",
                  .dtype = "fp32",
                  .input_dims = "[[4;8];[4;8];[]]",
                  .input_strides = "((8;1);(0;1);())",
                  .concrete_inputs = "('';'';'1')",
                  .kernel_names = "elementwise_kernel"}),
            "elementwise elements=32 read=160 written=128 dtype=fp32");
}

TEST(AtenShape, SeesOperandsWithALayoutAcross) {
  EXPECT_EQ(Aten({.op = "add",
                  .dtype = "fp32",
                  .input_dims = "[[4;8];[4;8];[]]",
                  .input_strides = "((8;1);(1;4);())",
                  .concrete_inputs = "('';'';'1')",
                  .kernel_names = "elementwise_kernel"}),
            "elementwise elements=32 read=256 written=128 dtype=fp32 "
            "scattered=true");
}

TEST(AtenShape, ACopyByTheDriverIsAMemcpy) {
  EXPECT_EQ(Aten({.op = "copy_",
                  .dtype = "int64",
                  .input_dims = "[[32];[32];[]]",
                  .input_strides = "((1;);(1;);())",
                  .concrete_inputs = "('';'';'False')",
                  .kernel_names = "Memcpy DtoH"}),
            "copy kind=device_to_host bytes=256");
}

TEST(AtenShape, ACopyInTheSameLayoutIsACast) {
  // To bf16, so from fp32.
  EXPECT_EQ(Aten({.op = "copy_",
                  .dtype = "bf16",
                  .input_dims = "[[1;4;8];[1;4;8];[]]",
                  .input_strides = "((32;8;1);(99;8;1);())",
                  .concrete_inputs = "('';'';'False')",
                  .kernel_names = "vectorized_elementwise_kernel"}),
            "elementwise elements=32 read=128 written=64 dtype=bf16");
}

TEST(AtenShape, ACopyIntoAnotherLayoutIsATranspose) {
  const auto copy = [](std::string_view strides) {
    return Aten({.op = "copy_",
                 .dtype = "bf16",
                 .input_dims = "[[4;8;16];[4;8;16];[]]",
                 .input_strides = strides,
                 .concrete_inputs = "('';'';'False')",
                 .kernel_names = "elementwise_kernel"});
  };
  // Rows of 16 stay together; then planes of 8 x 16; then nothing.
  EXPECT_EQ(copy("((128;16;1);(16;64;1);())"),
            "transpose elements=512 run=16 dtype=bf16");
  EXPECT_EQ(copy("((128;16;1);(256;16;1);())"),
            "transpose elements=512 run=128 dtype=bf16");
  EXPECT_EQ(copy("((128;16;1);(1;4;32);())"),
            "transpose elements=512 run=1 dtype=bf16");
}

TEST(AtenShape, ReadsTheAxesOfAReduction) {
  EXPECT_EQ(Aten({.op = "mean",
                  .dtype = "fp32",
                  .input_dims = "[[16;32];[];[];[]]",
                  .input_strides = "((32;1);();();())",
                  .concrete_inputs = "('';'[-1]';'True';'')",
                  .kernel_names = "reduce_kernel"}),
            "reduction inputs=512 outputs=16 dtype=fp32");
  // A norm has its order first.
  EXPECT_EQ(Aten({.op = "linalg_vector_norm",
                  .dtype = "fp32",
                  .input_dims = "[[16;32];[];[];[];[]]",
                  .input_strides = "((32;1);();();();())",
                  .concrete_inputs = "('';'2.';'[0]';'True';'')",
                  .kernel_names = "reduce_kernel"}),
            "reduction inputs=512 outputs=32 dtype=fp32 strided=true");
}

TEST(AtenShape, SaysNothingWhereSizesAreMissing) {
  // The list of indices is not recorded.
  EXPECT_EQ(Aten({.op = "index",
                  .dtype = "bf16",
                  .input_dims = "[[1;77;768];[]]",
                  .input_strides = "((59136;768;1);())",
                  .concrete_inputs = "('';'')",
                  .kernel_names = "index_elementwise_kernel"}),
            "");
  EXPECT_EQ(Aten({.op = "mul", .dtype = "fp32", .input_dims = "nonsense"}), "");
  EXPECT_EQ(Aten({.op = "mul", .dtype = "", .input_dims = "[[4];[4]]"}), "");
}

TEST(AtenShape, AnIndexPicksFromTheAxesThatHaveOne) {
  // 64 samples x 36 places of a 9 x 9 matrix each.
  EXPECT_EQ(Aten({.op = "index",
                  .dtype = "fp32",
                  .input_dims = "[[64;9;9];[[];[36];[36]]]"}),
            "index elements=2304 source=5184 dtype=fp32");
}

TEST(AtenShape, ASparseStepScattersItsValues) {
  EXPECT_EQ(Aten({.op = "sparse_add_",
                  .dtype = "fp32",
                  .input_dims = "[[1000;8];[20];[20;8]]"}),
            "index elements=160 source=8000 scatter=true accumulate=true "
            "slice=8 dtype=fp32");
}

TEST(ConcatShape, AProcessorHasNoKernelsToName) {
  EXPECT_EQ(
      Join(ShapesOf(ConcatRow{.dtype = "fp32", .input_dims = "[[4;8];[4;2]]"})),
      "concat tensors=2 elements=40 dtype=fp32");
}

TEST(ConcatShape, OneKernelForAllTensors) {
  EXPECT_EQ(Join(ShapesOf(
                ConcatRow{.dtype = "bytes2",
                          .input_dims = "[[4;1;8];[4;3;8];[0]]",
                          .kernel_names = "at::native::CatArrayBatchedCopy"})),
            "concat tensors=2 elements=128 dtype=fp16");
}

TEST(ConcatShape, OneCopyForEachOfManyAxes) {
  EXPECT_EQ(Join(ShapesOf(
                ConcatRow{.dtype = "bf16",
                          .input_dims = "[[1;2;2;2;2];[1;2;1;2;2]]",
                          .kernel_names = "at::native::elementwise_kernel*2"})),
            "transpose elements=16 dtype=bf16; "
            "transpose elements=8 dtype=bf16");
}

TEST(ConcatShape, OfOneTensorIsAMemcpy) {
  EXPECT_EQ(Join(ShapesOf(ConcatRow{.dtype = "fp32",
                                    .input_dims = "[[16;4]]",
                                    .kernel_names = "Memcpy DtoD"})),
            "copy kind=device_to_device bytes=256");
}

TEST(ConcatShape, SaysNothingWithoutAType) {
  EXPECT_EQ(Join(ShapesOf(ConcatRow{.dtype = "", .input_dims = "[[16;4]]"})),
            "");
}

}  // namespace
}  // namespace stepcast::learn
