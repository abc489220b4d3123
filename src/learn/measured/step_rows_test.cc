#include "learn/measured/step_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::learn {
namespace {

using ::testing::HasSubstr;

constexpr const char* kStepHeader =
    "id,implementation,mode,model,num_gpus,gpu,batch_per_gpu,precision,"
    "cuda_graphs,embedding_placement,step_time_ms,notes\n";

std::string ErrorOf(const std::string& text) {
  std::vector<StepRow> rows;
  const auto status = AddStepRows(text, "steps.csv", rows);
  return status ? "" : status.error().message;
}

TEST(StepRowsTest, KeepsTheWordsAndReadsTheNumbers) {
  std::vector<StepRow> rows;
  ASSERT_TRUE(AddStepRows(std::string(kStepHeader) +
                              "a,mine,train,dlrm,1,V100,2048,FP32,off,HBM,9.5,"
                              "\"line 3, DGX\"\n",
                          "steps.csv", rows));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].id, "a");
  EXPECT_EQ(rows[0].num_gpus, 1);
  EXPECT_EQ(rows[0].num_nodes, 1);
  EXPECT_EQ(rows[0].batch_per_gpu, 2048);
  EXPECT_EQ(rows[0].step_time_ms, 9.5);
  EXPECT_EQ(rows[0].Word("notes"), "line 3, DGX");
  EXPECT_EQ(rows[0].Word("cpu"), "");
  EXPECT_EQ(rows[0].line, 2u);
}

TEST(StepRowsTest, SaysWhichColumnIsMissing) {
  EXPECT_THAT(ErrorOf("id,implementation\na,b\n"), HasSubstr("step_time_ms"));
}

TEST(StepRowsTest, SaysWhereANumberIsNone) {
  const std::string good = "a,mine,train,dlrm,1,V100,2048,FP32,off,HBM,9.5,\n";
  EXPECT_EQ(ErrorOf(kStepHeader + good), "");
  EXPECT_EQ(ErrorOf(kStepHeader + good +
                    "b,mine,train,dlrm,1,V100,many,FP32,off,HBM,9.5,\n"),
            "steps.csv:3: batch_per_gpu is 'many'; expected a whole number of "
            "at least 1");
  EXPECT_EQ(ErrorOf(std::string(kStepHeader) +
                    "b,mine,train,dlrm,1,V100,1,FP32,off,HBM,-2,\n"),
            "steps.csv:2: step_time_ms is '-2'; expected a number above 0");
  EXPECT_EQ(ErrorOf(std::string(kStepHeader) +
                    "b,mine,test,dlrm,1,V100,1,FP32,off,HBM,2,\n"),
            "steps.csv:2: mode is 'test'; expected train or infer");
}

TEST(StepRowsTest, AnIdStandsForOneRow) {
  const std::string line = "a,mine,train,dlrm,1,V100,2048,FP32,off,HBM,9.5,\n";
  EXPECT_EQ(ErrorOf(kStepHeader + line + line),
            "steps.csv:3: id 'a' is there twice; expected one row per id");
}

}  // namespace
}  // namespace stepcast::learn
