#include "trace/read/torch_et/collectives.h"

#include <string>

#include <gtest/gtest.h>

namespace stepcast::trace {
namespace {

// Schema 1.0.1: the group is an address in the process, sizes are not written.
TEST(CollectiveFieldsTest, ReadsAnAllToAllOfSchema101) {
  const auto read = ParsePositional(
      R"([[7, 5, 0, 60, 4, "cuda:0"], 14, 94594, 3, "all_to_allv",
          [10, 20, 30], [40, 50, 60]])",
      R"json(["Tensor(float)", "Int", "Int", "Int", "String",
          "GenericList[Int,Int,Int]", "GenericList[Int,Int,Int]"])json",
      R"([[8, 6, 0, 150, 4, "cuda:0"]])");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->rank, 3);
  EXPECT_EQ(read->group_address, 94594);
  EXPECT_EQ(read->split_count, 3);
  EXPECT_EQ(CollectiveText(read->fields),
            R"({"Collective name":"all_to_allv","dtype":"float",)"
            R"("In msg nelems":60,"Out msg nelems":150,)"
            R"("In split size":"[10, 20, 30]",)"
            R"("Out split size":"[40, 50, 60]"})");
}

// Schema 1.0.2: the group has a name, and rank start, stride and size follow.
TEST(CollectiveFieldsTest, ReadsAnAllReduceOfSchema102) {
  const auto read = ParsePositional(
      R"([[[7, 5, 0, 60, 8, "cuda:0"], [9, 6, 0, 40, 8, "cuda:0"]], 14,
          ["0", "default_pg"], 1, "allreduce", [], [], 0, 1, 2])",
      R"(["GenericList[Tensor(long int),Tensor(long int)]", "Int"])", "[]");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->rank, 1);
  EXPECT_FALSE(read->group_address);
  EXPECT_EQ(CollectiveText(read->fields),
            R"({"Collective name":"allreduce","dtype":"long int",)"
            R"("In msg nelems":100,)"
            R"("In split size":"[]","Out split size":"[]",)"
            R"("Process Group Name":"0",)"
            R"("Process Group Description":"default_pg","Group size":2,)"
            R"("Global rank start":0,"Global rank stride":1})");
}

TEST(CollectiveFieldsTest, ReadsAWaitWhichHasNoTensor) {
  const auto read = ParsePositional(R"([14, 0, 0, "wait", [], []])",
                                    R"(["Int", "Int", "Int", "String"])", "[]");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->fields.name, "wait");
  EXPECT_FALSE(read->fields.in_elements);
}

TEST(CollectiveFieldsTest, AGroupNamedByPlainTextIsNotTakenForTheCollective) {
  const auto read = ParsePositional(
      R"([14, "tensor_parallel", 1, "allreduce", [], [], 0, 1, 2])", "", "");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->fields.name, "allreduce");
  EXPECT_EQ(read->fields.group_name, "tensor_parallel");
}

TEST(CollectiveFieldsTest, ReadsPythonTextToo) {
  const auto read = ParsePositional(
      "[[[7, 5, 0, 60, 4, 'cuda:0']], 14, ('0', 'default_pg'), 1, "
      "'allreduce', [], [], 0, 1, 2]",
      "['GenericList[Tensor(float)]']", "[]");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->fields.in_elements, 60);
  EXPECT_EQ(read->fields.dtype, "float");
  EXPECT_EQ(read->fields.group_description, "default_pg");
}

TEST(CollectiveFieldsTest, OtherArgumentsAreNotACollective) {
  for (const char* values :
       {"", "[]", "5", "[1, 2, 3]", R"(["allreduce", [], []])",
        R"([1, 2, "name", 5, []])", R"([1, 2, "name", [1.5], []])",
        R"([1, 2, "name", [], [)"}) {
    EXPECT_FALSE(ParsePositional(values, "[]", "[]")) << values;
  }
}

TEST(CollectiveFieldsTest, ElementCountsThatDoNotFitAreLeftOut) {
  const auto read = ParsePositional(
      R"([[[7, 5, 0, 9223372036854775807, 4, "cuda:0"],
           [7, 5, 0, 1, 4, "cuda:0"]], 14, 1, 3, "allreduce", [], []])",
      "[]", R"([[7, 5, 0, -4, 4, "cuda:0"]])");
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->fields.in_elements);
  EXPECT_FALSE(read->fields.out_elements);
}

TEST(CollectiveFieldsTest, FindsTheFirstTensorAmongValues) {
  const auto tensor = FirstTensor(
      R"([5, [1, 2], [7, 5, 0, 60, 2, "cuda:0"]])",
      R"json(["Int", "GenericList[Int,Int]", "Tensor(c10::Half)"])json");
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->elements, 60);
  EXPECT_EQ(tensor->element_bytes, 2);
  EXPECT_EQ(tensor->dtype, "c10::Half");
  EXPECT_FALSE(FirstTensor("[5, [1, 2]]", "[]"));
}

}  // namespace
}  // namespace stepcast::trace
