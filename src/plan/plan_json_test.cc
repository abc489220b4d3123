#include "plan/plan_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::plan {
namespace {

using ::testing::HasSubstr;

const Ranks kRanks{.count = 4, .nodes = 2};

std::vector<NamedTable> Tables() {
  return {{.name = "a", .group = {.rows = 10, .dim = 8}},
          {.name = "b", .group = {.rows = 100, .dim = 64}}};
}

Plan SomePlan(TablePlan of_b) {
  TablePlan of_a{.shards = {{.rows = 10, .columns = 8, .rank = 3}}};
  return {.tables = {std::move(of_a), std::move(of_b)}};
}

TEST(PlanJson, ReadsWhatItWrites) {
  const TablePlan columns{
      .sharding = Sharding::kColumnWise,
      .shards = {{.rows = 100, .columns = 32, .rank = 2},
                 {.column = 32, .rows = 100, .columns = 32, .rank = 0}}};
  const TablePlan rows{
      .sharding = Sharding::kRowWise,
      .shards = {{.row = 0, .rows = 25, .columns = 64, .rank = 0},
                 {.row = 25, .rows = 25, .columns = 64, .rank = 1},
                 {.row = 50, .rows = 25, .columns = 64, .rank = 2},
                 {.row = 75, .rows = 25, .columns = 64, .rank = 3}}};
  const TablePlan node{
      .sharding = Sharding::kTableRowWise,
      .shards = {{.row = 0, .rows = 50, .columns = 64, .rank = 2},
                 {.row = 50, .rows = 50, .columns = 64, .rank = 3}}};
  const TablePlan copies{.sharding = Sharding::kDataParallel,
                         .shards = {{.rows = 100, .columns = 64, .rank = 0},
                                    {.rows = 100, .columns = 64, .rank = 1},
                                    {.rows = 100, .columns = 64, .rank = 2},
                                    {.rows = 100, .columns = 64, .rank = 3}}};
  for (const TablePlan& table : {columns, rows, node, copies}) {
    const Plan plan = SomePlan(table);
    const auto read = ReadPlanJson(WritePlanJson(plan, Tables(), kRanks), "p",
                                   Tables(), kRanks);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, plan);
  }
}

TEST(PlanJson, ReadsShardsInsideASpecAndPlansWithoutALevel) {
  const auto read = ReadPlanJson(
      R"({"model.ebc": {
           "a": {"sharding_type": "table_wise", "compute_kernel": "fused",
                 "ranks": [1], "sharding_spec": {"shards": [
                   {"shard_offsets": [0, 0], "shard_sizes": [10, 8],
                    "placement": "rank:1/cuda:1"}]}},
           "b": {"sharding_type": "data_parallel", "compute_kernel": "dense",
                 "ranks": [0, 1, 2, 3], "sharding_spec": null}}})",
      "p", Tables(), kRanks);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->tables[0].shards.front().rank, 1);
  EXPECT_EQ(read->tables[1].sharding, Sharding::kDataParallel);
  EXPECT_EQ(read->tables[1].shards.size(), 4);
}

TEST(PlanJson, TakesOtherNamesInTheirOrder) {
  const auto read = ReadPlanJson(
      R"({"m": {"user": {"sharding_type": "table_wise", "ranks": [2]},
                "item": {"sharding_type": "table_wise", "ranks": [1]}}})",
      "p", Tables(), kRanks);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->tables[0].shards.front(),
            (Shard{.rows = 10, .columns = 8, .rank = 2}));
  EXPECT_EQ(read->tables[1].shards.front().rank, 1);
}

std::string ErrorOf(const std::string& of_b) {
  const auto read = ReadPlanJson(
      R"({"plan": {"m": {"a": {"sharding_type": "table_wise", "ranks": [0]},
          )" +
          of_b + "}}}",
      "p.json", Tables(), kRanks);
  return read ? "no error" : read.error().message;
}

TEST(PlanJson, SaysWhatIsWrong) {
  EXPECT_EQ(ErrorOf(R"("b": {"sharding_type": "table_wise", "ranks": [4]})"),
            "p.json: table b is on rank 4; expected 0 to 3");
  EXPECT_THAT(ErrorOf(R"("a": {"sharding_type": "table_wise", "ranks": [1]})"),
              HasSubstr("table a is twice: in modules 'm' and 'm'"));
  EXPECT_THAT(ErrorOf(R"("c": {"sharding_type": "table_wise", "ranks": [1]})"),
              HasSubstr("unknown table 'c'"));
  EXPECT_THAT(ErrorOf(R"("b": {"sharding_type": "grid", "ranks": [1]})"),
              HasSubstr("unknown sharding type 'grid'"));
  EXPECT_EQ(ErrorOf(R"("b": {"sharding_type": "column_wise", "ranks": [1],
      "shards": [{"shard_offsets": [0, 0], "shard_sizes": [100, 32],
                  "placement": "rank:1/cuda:1"}]})"),
            "p.json: table b has columns 32 to 63 nowhere; expected all 64");
  EXPECT_EQ(ErrorOf(R"("b": {"sharding_type": "column_wise", "ranks": [1],
      "shards": [{"shard_offsets": [0, 0], "shard_sizes": [100, 40],
                  "placement": "rank:1/cuda:1"},
                 {"shard_offsets": [0, 32], "shard_sizes": [100, 32],
                  "placement": "rank:1/cuda:1"}]})"),
            "p.json: table b has columns from 32 on twice; expected each once");
  EXPECT_THAT(ErrorOf(R"("b": {"sharding_type": "row_wise", "ranks": [0, 1]})"),
              HasSubstr("row_wise without a part on rank 2"));
  EXPECT_THAT(ErrorOf(R"("b": {"sharding_type": "table_wise", "ranks": [0],
      "compute_kernel": "fused_uvm"})"),
              HasSubstr("compute kernel 'fused_uvm'"));
  EXPECT_THAT(ErrorOf(R"("b": {"sharding_type": "table_wise", "ranks": [0],
      "shards": [{"shard_offsets": [0, 0], "shard_sizes": [100, 64],
                  "placement": "rank:2/cuda:0"}]})"),
              HasSubstr("a part on rank 2, which its ranks leave out"));
}

TEST(PlanJson, SaysWhatIsMissingOfAFile) {
  const auto error = [](std::string_view text) {
    const auto read = ReadPlanJson(text, "p", Tables(), kRanks);
    return read ? "no error" : read.error().message;
  };
  EXPECT_THAT(error("{}"), HasSubstr("table a is nowhere"));
  EXPECT_THAT(error("[]"), HasSubstr("p: "));
  EXPECT_THAT(error(R"({"plan": {"m": {"a")"), HasSubstr("ends too early"));
  EXPECT_THAT(error("what"), HasSubstr("p: "));
}

}  // namespace
}  // namespace stepcast::plan
