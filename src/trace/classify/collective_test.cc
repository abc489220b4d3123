#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/classify/classify_testing.h"
#include "trace/classify/collective_record.h"

namespace stepcast::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kSendRecv =
    "ncclDevKernel_SendRecv(ncclDevComm*, unsigned long, ncclWork*)";
constexpr std::string_view kAllReduce =
    "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)";

TEST(CollectiveTest, TheKernelsOwnRecordShowsAll) {
  // 6637568 floats of 4 bytes.
  EXPECT_EQ(
      ShapeOf({.kernel = kAllReduce,
               .collective = R"({"stream": 40, "Collective name": "allreduce",
                   "In msg nelems": 6637568, "Out msg nelems": 6637568,
                   "Group size": 2, "dtype": "Float", "In split size": "[]",
                   "Out split size": "[]", "Process Group Ranks": "[0, 1]"})"}),
      "collective kind=all_reduce bytes=26550272 group=2 dtype=fp32");
}

TEST(CollectiveTest, UnevenSplitsAreKeptInElements) {
  // 10 rows of 4 elements: the splits count rows.
  EXPECT_EQ(
      ShapeOf({.kernel = kSendRecv,
               .ops = {{.name = "nccl:all_to_all"},
                       {.name = "record_param_comms",
                        .collective = R"({"Collective name": "all_to_allv",
                            "In msg nelems": 40, "Out msg nelems": 24,
                            "dtype": "Long", "In split size": "[7, 3]",
                            "Out split size": "[3, 3]"})"}}}),
      "collective kind=all_to_all bytes=320 group=2 dtype=int64 send=28,12");
}

TEST(CollectiveTest, WithoutARecordTheOpsShow) {
  // The annotation has the input alone; the group is the whole job.
  EXPECT_EQ(
      ShapeOf({.kernel = kSendRecv,
               .ops = {{.name = "nccl:all_to_all",
                        .dims = "[[3392]]",
                        .types = R"(["int"])"},
                       {.name = "record_param_comms",
                        .dims = "[[3392], [], [], [], [], [], []]",
                        .types = R"(["int", "Scalar", "Scalar", "Scalar", "",
                                     "", ""])"}},
               .world_size = 8}),
      "collective kind=all_to_all bytes=13568 group=8 dtype=int32");
  // alltoall_base_(output, input, ...).
  EXPECT_EQ(ShapeOf({.kernel = kSendRecv,
                     .ops = {{.name = "c10d::alltoall_base_",
                              .dims = "[[768], [3392], [], [], [], []]",
                              .types = R"(["int", "int", "", "", "",
                                           "Scalar"])"}}}),
            "collective kind=all_to_all bytes=13568 dtype=int32");
}

TEST(CollectiveTest, WithoutAnythingTheNameShowsTheKind) {
  EXPECT_EQ(ShapeOf({.kernel = kAllReduce}), "collective kind=all_reduce");
  EXPECT_EQ(ShapeOf({.kernel = kSendRecv}), "collective kind=send_recv");
  EXPECT_EQ(ShapeOf({.kernel = "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL("
                               "ncclDevKernelArgsStorage<4096ul>)"}),
            "collective kind=reduce_scatter");
  EXPECT_EQ(ShapeOf({.kernel = "ncclDevKernel_Generic_4(int)"}), "collective");
  EXPECT_EQ(ShapeOf({.kernel = "ncclDevKernel_Generic_4(int)",
                     .ops = {{.name = "nccl:_all_gather_base"}}}),
            "collective kind=all_gather");
}

TEST(CollectiveTest, AnOpOfAnotherKindSaysNothingAboutTheKernel) {
  EXPECT_EQ(ShapeOf({.kernel = kAllReduce,
                     .ops = {{.name = "nccl:broadcast",
                              .dims = "[[64]]",
                              .types = R"(["float"])"}}}),
            "collective kind=all_reduce");
}

TEST(CollectiveTest, AnExpectedCollectiveComesFromItsRecord) {
  constexpr OpText kOp = {
      .name = "record_param_comms",
      .dims = "[[[112]], [], [], [], [], [], []]",
      .types = R"(["GenericList[Tensor(float)]", "Int", "Int", "Int", "String",
                   "GenericList[]", "GenericList[]"])",
      .values = R"([[[1, 1, 0, 112, 4, "cuda:0"]], 151, 945, 0, "allreduce",
                    [], []])",
      .collective = R"({"Collective name": "allreduce", "In msg nelems": 112,
                        "dtype": "float", "Group size": 8})"};
  EXPECT_EQ(ShapesOf(kOp),
            "collective kind=all_reduce bytes=448 group=8 dtype=fp32");
}

// Gloo writes no record: the op has the tensors and, if at all, the splits.
TEST(CollectiveTest, OpsWithoutARecordHaveTheGroupOfTheJobOrOfTheirSplits) {
  constexpr OpText kReduce = {
      .name = "c10d::allreduce_",
      .dims = "[[[112]], [], [], [], [], []]",
      .types = R"x(["GenericList[Tensor(float)]", "Object", "Object", "None",
                   "Bool", "Int"])x",
      .values = R"([[[1, 1, 0, 112, 4, "cuda:0"]], "<Object>", "<Object>",
                    "<None>", true, -1])"};
  EXPECT_EQ(ShapesOf(kReduce, {}, 4),
            "collective kind=all_reduce bytes=448 group=4 dtype=fp32");
  constexpr OpText kExchange = {
      .name = "c10d::alltoall_base_",
      .dims = "[[6, 4], [10, 4], [], [[], []], [[], []], [], []]",
      .types = R"x(["Tensor(int)", "Tensor(int)", "Object",
                   "GenericList[Int,Int]", "GenericList[Int,Int]", "Bool",
                   "Int"])x",
      .values = R"([[1, 1, 0, 24, 4, "cuda:0"], [2, 2, 0, 40, 4, "cuda:0"],
                    "<Object>", [3, 3], [7, 3], true, -1])"};
  // 10 rows of 4 elements go out, 7 of them to the first peer.
  EXPECT_EQ(ShapesOf(kExchange, {}, 4),
            "collective kind=all_to_all bytes=160 group=2 dtype=int32 "
            "send=28,12");
}

TEST(CollectiveTest, WaitingForAFunctionalCollectiveIsNone) {
  EXPECT_EQ(ShapesOf({.name = "_c10d_functional::wait_tensor",
                      .dims = "[[8]]",
                      .types = R"x(["Tensor(float)"])x",
                      .values = R"([[1, 1, 0, 8, 4, "cuda:0"]])"}),
            "");
}

TEST(CollectiveRecordTest, ReadsListsAsJsonAndInsideStrings) {
  const auto record = ParseCollectiveRecord(
      R"({"Collective name":"all_to_allv","In split size":[1, 2],
          "Out split size":"[3, 4]","nested":{"a":[1,{"b":"}"}]},
          "text":"a \" : , } b","Group size":2})");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->name, "all_to_allv");
  EXPECT_THAT(record->in_splits, ElementsAre(1, 2));
  EXPECT_THAT(record->out_splits, ElementsAre(3, 4));
  EXPECT_EQ(record->group_size, 2);
}

TEST(CollectiveRecordTest, WrongTypesAndShortenedListsAreLeftOut) {
  const auto record = ParseCollectiveRecord(
      R"({"Collective name": "allreduce", "In msg nelems": "many",
          "In split size": "[1, 2, ...]", "Group size": null, "dtype": 7})");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->in_elements, 0);
  EXPECT_THAT(record->in_splits, IsEmpty());
  EXPECT_EQ(record->group_size, 0);
  EXPECT_EQ(record->dtype, "");
}

TEST(CollectiveRecordTest, BrokenTextGivesWhatCameBefore) {
  EXPECT_FALSE(ParseCollectiveRecord(""));
  EXPECT_FALSE(ParseCollectiveRecord("[]"));
  EXPECT_FALSE(ParseCollectiveRecord("{}"));
  EXPECT_FALSE(ParseCollectiveRecord(R"({"Collective name")"));
  EXPECT_FALSE(ParseCollectiveRecord(R"({"Collective name": "a)"));
  EXPECT_FALSE(ParseCollectiveRecord(R"({:,:,:)"));
  EXPECT_FALSE(ParseCollectiveRecord(std::string(100'000, '[')));
  EXPECT_FALSE(ParseCollectiveRecord("{" + std::string(100'000, '"')));
  const std::string whole =
      R"({"Collective name": "allreduce", "Group size": 2, "dtype": "Float"})";
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto record = ParseCollectiveRecord(whole.substr(0, size));
    EXPECT_TRUE(!record || record->name == "allreduce") << size;
  }
}

}  // namespace
}  // namespace stepcast::trace
