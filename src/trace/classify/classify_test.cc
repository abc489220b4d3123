#include "trace/classify/classify.h"

#include <string>

#include <gtest/gtest.h>

#include "trace/classify/classify_testing.h"
#include "trace/classify/sizers.h"

namespace stepcast::trace {
namespace {

std::string CopyShape(std::string_view name, int64_t bytes) {
  return ir::ShapeText(ClassifyDevice(
      BuiltInRules(),
      {.name = name, .kind = DeviceEventKind::kMemcpy, .bytes = bytes}, {}));
}

TEST(ClassifyTest, EveryFamilyHasASizer) {
  // All alternatives of the variant but Opaque, each under its own name.
  EXPECT_EQ(AllSizers().size(), std::variant_size_v<ir::KernelShape> - 1);
  const DeviceFacts facts;
  for (const FamilySizer& sizer : AllSizers()) {
    const SizeRequest request{.facts = facts, .detail = {}, .ops = {}};
    EXPECT_EQ(ir::FamilyName(sizer.size(request)), sizer.family);
  }
}

TEST(ClassifyTest, CopiesShowTheirWayAndPinning) {
  EXPECT_EQ(CopyShape("Memcpy HtoD (Pinned -> Device)", 64),
            "copy kind=host_to_device bytes=64 pinned=true");
  EXPECT_EQ(CopyShape("Memcpy HtoD (Pageable -> Device)", 64),
            "copy kind=host_to_device bytes=64");
  EXPECT_EQ(CopyShape("Memcpy DtoH (Device -> Pinned)", 8),
            "copy kind=device_to_host bytes=8 pinned=true");
  EXPECT_EQ(CopyShape("Memcpy DtoD (Device -> Device)", 8),
            "copy kind=device_to_device bytes=8");
  EXPECT_EQ(CopyShape("Memcpy PtoP (Device -> Device)", 8),
            "copy kind=peer_to_peer bytes=8");
  EXPECT_EQ(CopyShape("CopyDeviceToHost", 8),
            "copy kind=device_to_host bytes=8");
  EXPECT_EQ(CopyShape("Memcpy", -1), "copy");
}

TEST(ClassifyTest, ACopyWithoutSizeIsAsLargeAsItsTensor) {
  StringPool strings;
  const Arguments arguments = ParseArguments(
      {.dims = strings.Intern("[[5, 128], [5, 128], []]"),
       .types = strings.Intern(R"(["float", "float", "Scalar"])")},
      strings);
  const OpContext op{.name = "aten::copy_", .arguments = &arguments};
  EXPECT_EQ(
      ir::ShapeText(ClassifyDevice(BuiltInRules(),
                                   {.name = "Memcpy HtoD (Host -> Device)",
                                    .kind = DeviceEventKind::kMemcpy},
                                   {&op, 1})),
      "copy kind=host_to_device bytes=2560");
}

TEST(ClassifyTest, AMemsetIsAFill) {
  EXPECT_EQ(ir::ShapeText(ClassifyDevice(BuiltInRules(),
                                         {.name = "Memset (Device)",
                                          .kind = DeviceEventKind::kMemset,
                                          .bytes = 96},
                                         {})),
            "fill bytes=96");
}

TEST(ClassifyTest, AnUnknownKernelIsWhatItsOpIs) {
  EXPECT_EQ(ShapeOf({.kernel = "my_kernel_17",
                     .ops = {{.name = "aten::empty"},
                             {.name = "aten::bmm",
                              .dims = "[[2, 3, 4], [2, 4, 5]]",
                              .types = R"(["float", "float"])"}}}),
            "gemm batch=2 m=3 n=5 k=4 dtype=fp32");
  EXPECT_EQ(ShapeOf({.kernel = "my_kernel_17",
                     .collective = R"({"Collective name": "allgather",
                                       "In msg nelems": 2, "dtype": "Half",
                                       "Group size": 4})"}),
            "collective kind=all_gather bytes=4 group=4 dtype=fp16");
}

TEST(ClassifyTest, WhatNothingNamesIsOpaque) {
  EXPECT_EQ(ShapeOf({.kernel = "my_kernel_17"}), "opaque");
  EXPECT_EQ(ShapeOf({.kernel = "my_kernel_17",
                     .ops = {{.name = "my::op",
                              .dims = "[[4]]",
                              .types = R"(["float"])"}}}),
            "opaque");
  EXPECT_EQ(ShapeOf({.kernel = ""}), "opaque");
}

TEST(ClassifyTest, TheInnermostOpCounts) {
  // A copy inside an embedding's backward is a copy.
  EXPECT_EQ(
      ShapeOf({.kernel = "void at::native::vectorized_elementwise_kernel<4>",
               .ops = {{.name = "aten::mul",
                        .dims = "[[7], []]",
                        .types = R"(["float", "Scalar"])"},
                       {.name = "torch::autograd::CppNode<"
                                "SplitLookupFunction_adagrad_Op>",
                        .dims = "[[128, 48]]",
                        .types = R"(["float"])"}}}),
      "elementwise elements=7 read=28 written=28 dtype=fp32");
}

TEST(ClassifyTest, NumbersThatDoNotFitStayUnknown) {
  constexpr std::string_view kHuge =
      "[[9223372036854775807, 9223372036854775807], "
      "[9223372036854775807, 9223372036854775807]]";
  EXPECT_EQ(
      ShapeOf({.kernel = "void at::native::vectorized_elementwise_kernel<4>",
               .ops = {{.name = "aten::add",
                        .dims = kHuge,
                        .types = R"(["float", "float"])"}}}),
      "elementwise dtype=fp32");
  EXPECT_EQ(ShapeOf({.kernel = "void at::native::(anonymous namespace)::"
                               "CatArrayBatchedCopy<float>()",
                     .ops = {{.name = "aten::cat",
                              .dims = "[[[9223372036854775807], "
                                      "[9223372036854775807]], []]",
                              .types = R"(["TensorList", "Scalar"])"}}}),
            "concat tensors=2 dtype=fp32");
}

constexpr std::string_view kTwoOnGpu = R"([[1, 1, 0, 8, 4, "cuda:0"],
                                           [2, 2, 0, 8, 4, "cuda:0"]])";

TEST(ClassifyOpTest, OpsOnTheHostLaunchNothing) {
  constexpr std::string_view kTypes = R"x(["Tensor(float)", "Tensor(float)"])x";
  EXPECT_EQ(ShapesOf({.name = "aten::add",
                      .dims = "[[8], [8]]",
                      .types = kTypes,
                      .values = R"([[1, 1, 0, 8, 4, "cpu"],
                                    [2, 2, 0, 8, 4, "cpu"]])"}),
            "");
  EXPECT_EQ(ShapesOf({.name = "aten::view",
                      .dims = "[[8], [8]]",
                      .types = kTypes,
                      .values = kTwoOnGpu}),
            "");
  EXPECT_EQ(ShapesOf({.name = "aten::add"}), "");
  // Nothing is launched for an empty tensor.
  EXPECT_EQ(ShapesOf({.name = "aten::fill_",
                      .dims = "[[0], []]",
                      .types = R"x(["Tensor(float)", "Int"])x",
                      .values = R"([[1, 1, 0, 0, 4, "cuda:0"], 0])"}),
            "");
}

TEST(ClassifyOpTest, OpsOnTheDeviceLaunchTheirFamily) {
  constexpr std::string_view kTypes = R"x(["Tensor(float)", "Tensor(float)"])x";
  EXPECT_EQ(ShapesOf({.name = "aten::add",
                      .dims = "[[8], [8]]",
                      .types = kTypes,
                      .values = kTwoOnGpu}),
            "elementwise elements=8 read=64 written=32 dtype=fp32");
  EXPECT_EQ(ShapesOf({.name = "my::op",
                      .dims = "[[8], [8]]",
                      .types = kTypes,
                      .values = kTwoOnGpu}),
            "opaque");
}

TEST(ClassifyOpTest, CopiesGoBetweenTheDevicesOfTheirTensors) {
  constexpr std::string_view kSame = R"x(["Tensor(float)", "Tensor(float)"])x";
  EXPECT_EQ(ShapesOf({.name = "aten::copy_",
                      .dims = "[[8], [8]]",
                      .types = kSame,
                      .values = R"([[1, 1, 0, 8, 4, "cuda:0"],
                                    [2, 2, 0, 8, 4, "cpu"]])"}),
            "copy kind=host_to_device bytes=32");
  EXPECT_EQ(ShapesOf({.name = "aten::copy_",
                      .dims = "[[8], [8]]",
                      .types = kSame,
                      .values = kTwoOnGpu}),
            "copy kind=device_to_device bytes=32");
  EXPECT_EQ(ShapesOf({.name = "aten::copy_",
                      .dims = "[[8], [8]]",
                      .types = R"x(["Tensor(double)", "Tensor(float)"])x",
                      .values = kTwoOnGpu}),
            "elementwise elements=8 read=32 written=64 dtype=fp64");
}

}  // namespace
}  // namespace stepcast::trace
