#include "learn/measured/collective_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::learn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kCollectiveHeader =
    "gpu,system,collective,dtype,num_gpus,num_nodes,bytes,time_us\n";

CollectiveRows ReadCollectives(const std::string& lines) {
  CollectiveRows rows;
  const auto status =
      AddCollectiveRows(kCollectiveHeader + lines, "test.csv", rows);
  EXPECT_TRUE(status.has_value()) << status.error().message;
  return rows;
}

TEST(CollectiveRows, ReadsSystemsAndKinds) {
  const CollectiveRows rows = ReadCollectives(
      "h100,a,alltoall,fp16,8,1,4096,12.5\n"
      "h100,b,all_reduce,fp16,16,2,8192,40\n");
  EXPECT_THAT(rows.systems, ElementsAre("h100/a", "h100/b"));
  ASSERT_EQ(rows.rows.size(), 2u);
  EXPECT_EQ(rows.rows[0].kind, ir::CollectiveKind::kAllToAll);
  EXPECT_EQ(rows.rows[0].time_us, 12.5);
  EXPECT_EQ(rows.rows[1].nodes, 2);
  EXPECT_EQ(rows.rows[1].system, 1);
}

TEST(CollectiveRows, SkipsRowsWithTheirReason) {
  const CollectiveRows rows = ReadCollectives(
      "h100,a,alltoall,fp16,8,3,4096,12.5\n"
      "h100,a,swap,fp16,8,1,4096,12.5\n"
      "h100,a,alltoall,fp16,8,1,4096,-1\n");
  EXPECT_TRUE(rows.rows.empty());
  ASSERT_EQ(rows.skipped.size(), 3u);
  EXPECT_THAT(rows.skipped[0].why, HasSubstr("8 GPUs on 3 nodes"));
  EXPECT_THAT(rows.skipped[1].why, HasSubstr("swap"));
  EXPECT_EQ(rows.skipped[2].line, 4u);
}

TEST(CollectiveRows, OneSizeIsInOnePart) {
  CollectiveRow row{
      .kind = ir::CollectiveKind::kAllReduce, .ranks = 8, .bytes = 4096};
  const Part part = PartOf(row);
  row.dtype = ir::DType::kInt8;
  row.system = 3;
  row.time_us = 77;
  EXPECT_EQ(PartOf(row), part);
}

TEST(CollectiveRows, ATenthIsHeldBack) {
  int held = 0;
  for (int i = 0; i < 1000; ++i) {
    const CollectiveRow row{.kind = ir::CollectiveKind::kAllToAll,
                            .ranks = 4,
                            .bytes = 512.0 * (i + 1)};
    held += PartOf(row) == Part::kTest ? 1 : 0;
  }
  EXPECT_NEAR(held, 100, 35);
}

}  // namespace
}  // namespace stepcast::learn
