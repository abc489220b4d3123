#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "learn/judge/step_accuracy.h"
#include "view/reports/accuracy_doc.h"
#include "view/write.h"

namespace stepcast::view {
namespace {

using ::testing::HasSubstr;

constexpr const char* kHeader =
    "id,implementation,mode,model,num_gpus,gpu,batch_per_gpu,precision,"
    "cuda_graphs,embedding_placement,step_time_ms\n";

std::vector<learn::StepRow> Rows(const std::string& lines) {
  std::vector<learn::StepRow> rows;
  const auto status = learn::AddStepRows(kHeader + lines, "steps.csv", rows);
  EXPECT_TRUE(status) << status.error().message;
  return rows;
}

learn::StepAccuracy Evaluate(const std::vector<learn::StepRow>& rows,
                             size_t threads) {
  const auto words = learn::StepWords::Load();
  EXPECT_TRUE(words) << words.error().message;
  learn::StepAccuracyOptions options;
  options.samples = 10;
  options.threads = threads;
  return learn::EvaluateSteps(rows, *words, options);
}

const char* const kLines =
    "a,NVIDIA PyTorch DLRM,train,DLRM-small(Criteo FL15),1,V100-SXM2-32GB,"
    "32768,FP32,off,GPU HBM,49\n"
    "b,NVIDIA PyTorch DLRM,train,DLRM-small(Criteo FL15),0,,"
    "8192,FP32,off,GPU HBM,20\n"
    "c,NVIDIA PyTorch DLRM,infer,DLRM-small(Criteo FL15),1,V100-SXM2-32GB,"
    "64,FP16,on,GPU HBM,0.2\n";

TEST(StepAccuracyTest, EveryRowIsPredictedOrSkipped) {
  const std::vector<learn::StepRow> rows = Rows(kLines);
  const learn::StepAccuracy accuracy = Evaluate(rows, 1);
  ASSERT_EQ(accuracy.rows.size(), 2u);
  ASSERT_EQ(accuracy.skipped.size(), 1u);
  EXPECT_EQ(accuracy.skipped[0].row->id, "b");
  EXPECT_EQ(accuracy.skipped[0].why,
            "runs on CPUs alone, of which nothing is known");
  // Training and inference are groups of their own.
  EXPECT_EQ(accuracy.groups.size(), 2u);
  EXPECT_EQ(accuracy.all.errors.n, 2u);
}

TEST(StepAccuracyTest, ErrorsAreOfThePrediction) {
  const std::vector<learn::StepRow> rows = Rows(kLines);
  const learn::StepAccuracy accuracy = Evaluate(rows, 1);
  const learn::PredictedStep& step = accuracy.rows[0];
  EXPECT_DOUBLE_EQ(step.error_pct(), 100 * (step.predicted_ms / 49 - 1));
  EXPECT_LT(step.p10_ms, step.predicted_ms);
  EXPECT_GT(step.p90_ms, step.predicted_ms);
  EXPECT_LE(step.gpu_active_ms, step.predicted_ms);
}

TEST(StepAccuracyTest, ThreadsChangeNothing) {
  const std::vector<learn::StepRow> rows = Rows(kLines);
  EXPECT_EQ(WriteJson(StepAccuracyDoc(Evaluate(rows, 1))),
            WriteJson(StepAccuracyDoc(Evaluate(rows, 3))));
}

TEST(StepAccuracyTest, CsvQuotesCommas) {
  std::vector<learn::StepRow> rows = Rows(kLines);
  rows[0].words["id"] = "a, \"b\"";
  EXPECT_THAT(WriteCsv(StepAccuracyDoc(Evaluate(rows, 1))),
              HasSubstr("\"a, \"\"b\"\"\",NVIDIA PyTorch DLRM,train,"));
}

}  // namespace
}  // namespace stepcast::view
