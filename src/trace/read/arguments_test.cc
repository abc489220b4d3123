#include "trace/read/arguments.h"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = Argument::Kind;

std::vector<Argument> Inputs(std::string_view dims, std::string_view types,
                             std::string_view values = {}) {
  StringPool strings;
  return ParseArguments({.dims = strings.Intern(dims),
                         .types = strings.Intern(types),
                         .values = strings.Intern(values)},
                        strings)
      .inputs;
}

std::vector<Kind> KindsOf(const std::vector<Argument>& arguments) {
  std::vector<Kind> kinds;
  for (const Argument& argument : arguments) {
    kinds.push_back(argument.kind);
  }
  return kinds;
}

TEST(ArgumentsTest, ReadsTensorsOfAProfilerTrace) {
  const auto inputs =
      Inputs("[[16, 13], [256, 13], []]", R"(["float", "long int", "Scalar"])");
  ASSERT_THAT(KindsOf(inputs),
              ElementsAre(Kind::kTensor, Kind::kTensor, Kind::kNone));
  EXPECT_THAT(inputs[0].tensors[0].dims, ElementsAre(16, 13));
  EXPECT_EQ(inputs[0].tensors[0].dtype, ir::DType::kFp32);
  EXPECT_EQ(inputs[0].tensors[0].device, ir::Device::kUnknown);
  EXPECT_EQ(inputs[1].tensors[0].dtype, ir::DType::kInt64);
}

TEST(ArgumentsTest, ReadsThe2021Dialect) {
  const auto inputs =
      Inputs("[[32, 3, 8, 8], [], [], [], []]",
             R"(["float", "GenericList", "Int", "Bool", "Double"])");
  EXPECT_THAT(KindsOf(inputs),
              ElementsAre(Kind::kTensor, Kind::kNone, Kind::kNone, Kind::kNone,
                          Kind::kNone));
}

TEST(ArgumentsTest, AScalarTensorHasNoDimensions) {
  const auto inputs = Inputs("[[], []]", R"(["double", ""])");
  ASSERT_THAT(KindsOf(inputs), ElementsAre(Kind::kTensor, Kind::kNone));
  EXPECT_THAT(inputs[0].tensors[0].dims, IsEmpty());
}

TEST(ArgumentsTest, ReadsConcreteValuesWrittenAsText) {
  const auto inputs = Inputs(
      "[[1, 8], [], [], [], [], [], []]",
      R"(["float", "Scalar", "Scalar", "Scalar", "ScalarList", "", "Scalar"])",
      R"(["", "141", "False", "0.", "[2, -2]", "", "sum"])");
  ASSERT_THAT(KindsOf(inputs),
              ElementsAre(Kind::kTensor, Kind::kInt, Kind::kInt, Kind::kFloat,
                          Kind::kIntList, Kind::kNone, Kind::kString));
  EXPECT_THAT(inputs[1].ints, ElementsAre(141));
  EXPECT_THAT(inputs[2].ints, ElementsAre(0));
  EXPECT_EQ(inputs[3].number, 0);
  EXPECT_THAT(inputs[4].ints, ElementsAre(2, -2));
  EXPECT_EQ(inputs[6].text, "sum");
}

TEST(ArgumentsTest, TensorListsOfAProfilerTraceHaveDimsOrNothing) {
  const auto inputs = Inputs("[[[128, 128], [128]], [], []]",
                             R"(["TensorList", "TensorList", "Scalar"])");
  ASSERT_THAT(KindsOf(inputs),
              ElementsAre(Kind::kTensorList, Kind::kTensorList, Kind::kNone));
  ASSERT_EQ(inputs[0].tensors.size(), 2);
  EXPECT_THAT(inputs[0].tensors[0].dims, ElementsAre(128, 128));
  EXPECT_EQ(inputs[0].tensors[0].dtype, ir::DType::kUnknown);
  EXPECT_THAT(inputs[1].tensors, IsEmpty());
}

TEST(ArgumentsTest, ReadsStorageAndDeviceOfAnExecutionTrace) {
  const auto inputs = Inputs(
      "[[16, 13], [], [], []]",
      R"x(["Tensor(float)", "Int", "None", "Tensor(nullptr (uninitialized))"])x",
      R"([[545, 546, 0, 208, 4, "cuda:0"], 1, "<None>",
                 [7, 0, 0, 0, 0, ""]])");
  ASSERT_THAT(KindsOf(inputs),
              ElementsAre(Kind::kTensor, Kind::kInt, Kind::kNone, Kind::kNone));
  EXPECT_EQ(inputs[0].tensors[0].storage, 546);
  EXPECT_EQ(inputs[0].tensors[0].device, ir::Device::kGpu);
}

TEST(ArgumentsTest, ReadsNestedListsOfAnExecutionTrace) {
  const auto inputs =
      Inputs("[[[], [351], [351]], [[], []], []]",
             R"(["GenericList[None,Tensor(long int),Tensor(long int)]",
          "GenericList[Int,Int]", "GenericList[Bool,Bool]"])",
             R"([["<None>", [288, 847, 0, 351, 8, "cpu"],
           [282, 847, 351, 351, 8, "cpu"]], [3, 3], [true, false]])");
  ASSERT_THAT(KindsOf(inputs),
              ElementsAre(Kind::kTensorList, Kind::kIntList, Kind::kIntList));
  ASSERT_EQ(inputs[0].tensors.size(), 2);
  EXPECT_THAT(inputs[0].tensors[0].dims, ElementsAre(351));
  EXPECT_EQ(inputs[0].tensors[0].device, ir::Device::kCpu);
  EXPECT_THAT(inputs[1].ints, ElementsAre(3, 3));
  EXPECT_THAT(inputs[2].ints, ElementsAre(1, 0));
}

TEST(ArgumentsTest, ReadsPythonTextOfChakra) {
  const auto inputs = Inputs("[[4, 5], []]", "['Tensor(c10::Half)', 'Bool']",
                             "[[5, 6, 0, 20, 2, 'cuda:1'], True]");
  ASSERT_THAT(KindsOf(inputs), ElementsAre(Kind::kTensor, Kind::kInt));
  EXPECT_EQ(inputs[0].tensors[0].dtype, ir::DType::kFp16);
  EXPECT_EQ(inputs[0].tensors[0].device, ir::Device::kGpu);
  EXPECT_THAT(inputs[1].ints, ElementsAre(1));
}

TEST(ArgumentsTest, ReadsOutputsAndTheRecordOfACollective) {
  StringPool strings;
  const Arguments arguments =
      ParseArguments({.out_dims = strings.Intern("[[2, 3]]"),
                      .out_types = strings.Intern(R"x(["Tensor(float)"])x"),
                      .collective = strings.Intern(R"({"Group size": 2})")},
                     strings);
  EXPECT_THAT(arguments.inputs, IsEmpty());
  ASSERT_EQ(arguments.outputs.size(), 1);
  EXPECT_THAT(arguments.outputs[0].tensors[0].dims, ElementsAre(2, 3));
  EXPECT_EQ(arguments.collective, R"({"Group size": 2})");
  EXPECT_FALSE(arguments.empty());
}

TEST(ArgumentsTest, HostileTextYieldsLessNotAFailure) {
  EXPECT_THAT(Inputs("", ""), IsEmpty());
  EXPECT_THAT(Inputs("[[1]]", "{}"), IsEmpty());
  EXPECT_THAT(Inputs("[[1]]", "[\"float\""), IsEmpty());
  EXPECT_THAT(Inputs("[[1]]", std::string(100'000, '[')), IsEmpty());
  // Invalid dims: the tensor is there, its size is not known.
  EXPECT_THAT(Inputs("[\"x\"]", R"(["float"])")[0].tensors[0].dims, IsEmpty());
  EXPECT_THAT(Inputs("[[1.5]]", R"(["float"])")[0].tensors[0].dims, IsEmpty());
  EXPECT_THAT(Inputs("[", R"(["float"])")[0].tensors[0].dims, IsEmpty());
  // Fewer dims than types.
  EXPECT_THAT(Inputs("[]", R"(["float", "float"])")[1].tensors[0].dims,
              IsEmpty());
  // Negative sizes, beyond 64 bits, types that are not text.
  EXPECT_EQ(Inputs("[[-1]]", R"(["float"])")[0].kind, Kind::kNone);
  EXPECT_EQ(Inputs("[[[4], [-4]]]", R"(["TensorList"])")[0].kind, Kind::kNone);
  EXPECT_THAT(
      Inputs("[[99999999999999999999]]", R"(["float"])")[0].tensors[0].dims,
      IsEmpty());
  EXPECT_EQ(Inputs("[[1]]", "[7]")[0].kind, Kind::kNone);
  // A list type whose brackets do not close.
  EXPECT_EQ(Inputs("[[[1]]]", R"x(["GenericList[Tensor(float)"])x")[0].kind,
            Kind::kNone);
  EXPECT_EQ(Inputs("[[1]]", R"(["]["])")[0].kind, Kind::kNone);
}

}  // namespace
}  // namespace stepcast::trace
