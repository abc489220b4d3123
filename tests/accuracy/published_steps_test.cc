// Predictions from model files keep to their limits on published step times.
// Skipped where the data is absent.
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/stats.h"
#include "learn/judge/step_accuracy.h"
#include "learn/judge/step_words.h"
#include "learn/measured/step_rows.h"
#include "tests/accuracy/paper_steps.h"
#include "view/reports/accuracy_doc.h"
#include "view/write.h"

namespace stepcast::accuracy {
namespace {

using learn::PredictedStep;
using learn::StepAccuracy;

std::filesystem::path DataFolder() {
  return STEPCAST_SHARED_DATA;
}

TEST(PaperStepsTest, StepsAndActiveTimesAreWithinLimits) {
  if (!std::filesystem::exists(DataFolder() / "authors")) {
    GTEST_SKIP() << "no published tables in " << DataFolder();
  }
  const auto steps = PredictPaperSteps(DataFolder());
  ASSERT_TRUE(steps) << steps.error().message;
  EXPECT_EQ(steps->size(), 24u);
  const PaperErrors errors = ErrorsOf(*steps);
  EXPECT_LE(errors.our_step, 7.5) << PaperTable(*steps);
  EXPECT_LE(errors.our_active, 4.6) << PaperTable(*steps);
}

class PublishedStepsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path file =
        DataFolder() / "published" / "dlrm_end_to_end.csv";
    if (!std::filesystem::exists(file)) {
      GTEST_SKIP() << "no published results in " << file;
    }
    auto rows = learn::ReadStepRows({&file, 1});
    ASSERT_TRUE(rows) << rows.error().message;
    rows_ = *std::move(rows);
    const auto words = learn::StepWords::Load();
    ASSERT_TRUE(words) << words.error().message;
    accuracy_ = learn::EvaluateSteps(rows_, *words, {});
  }

  // The rows of an implementation on one GPU or on several; of all without a
  // name.
  std::vector<const PredictedStep*> Select(std::string_view implementation,
                                           bool several) const {
    std::vector<const PredictedStep*> steps;
    for (const PredictedStep& step : accuracy_.rows) {
      if ((implementation.empty() ||
           step.row->Word("implementation") == implementation) &&
          step.row->num_gpus > 0 && (step.row->num_gpus > 1) == several) {
        steps.push_back(&step);
      }
    }
    return steps;
  }

  // The rows without GPUs whose id begins so.
  std::vector<const PredictedStep*> OnProcessors(std::string_view id) const {
    std::vector<const PredictedStep*> steps;
    for (const PredictedStep& step : accuracy_.rows) {
      if (step.row->num_gpus == 0 && step.row->id.starts_with(id)) {
        steps.push_back(&step);
      }
    }
    return steps;
  }

  static ErrorSummary Errors(const std::vector<const PredictedStep*>& steps) {
    stepcast::Errors errors;
    for (const PredictedStep* step : steps) {
      errors.Add(1 + step->error_pct() / 100, 1);
    }
    return errors.Summary();
  }

  std::vector<learn::StepRow> rows_;
  StepAccuracy accuracy_;
};

TEST_F(PublishedStepsTest, NvidiasDlrmOnV100IsWithinLimits) {
  const auto steps = Select("NVIDIA PyTorch DLRM", /*several=*/false);
  ASSERT_EQ(steps.size(), 78u);
  for (const PredictedStep* step : steps) {
    EXPECT_LE(std::abs(step->error_pct()), 30) << step->row->id;
  }
  EXPECT_LE(Errors(steps).mape_pct, 12);
}

TEST_F(PublishedStepsTest, NvidiasDlrmOnSeveralV100sIsWithinFifteenPercent) {
  const auto steps = Select("NVIDIA PyTorch DLRM", /*several=*/true);
  ASSERT_EQ(steps.size(), 30u);
  EXPECT_LE(Errors(steps).mape_pct, 15);
}

// One to fourteen nodes, 4 to 112 GPUs; reasons for what is farther off are in
// docs/accuracy.md.
TEST_F(PublishedStepsTest, MlperfOnSeveralGpusIsWithinTwentyFivePercent) {
  std::vector<const PredictedStep*> steps;
  int over_nodes = 0;
  for (const PredictedStep& step : accuracy_.rows) {
    if (step.row->id.starts_with("mlperf-") && step.row->num_gpus > 1) {
      steps.push_back(&step);
      over_nodes += step.row->num_nodes > 1 ? 1 : 0;
    }
  }
  ASSERT_EQ(steps.size(), 70u);
  EXPECT_EQ(over_nodes, 10);
  fmt::print("  {} rows: MAPE {:.1f} %, GMAE {:.1f} %\n", steps.size(),
             Errors(steps).mape_pct, Errors(steps).gmae_pct);
  EXPECT_LE(Errors(steps).mape_pct, 25);
  EXPECT_LE(Errors(steps).gmae_pct, 8);
}

// Tables in host memory: managed, or cached by the host. Of each data set the
// managed ones are faster.
TEST_F(PublishedStepsTest, TablesInHostMemoryAreWithinThirtyPercent) {
  const auto managed = Select("torchrec UVM", /*several=*/false);
  const auto cached =
      Select("ColossalAI CachedEmbedding 1% cache", /*several=*/false);
  ASSERT_EQ(managed.size(), 2u);
  ASSERT_EQ(cached.size(), 2u);
  for (size_t i = 0; i < managed.size(); ++i) {
    EXPECT_LT(managed[i]->predicted_ms, cached[i]->predicted_ms)
        << managed[i]->row->id;
  }
  auto all = managed;
  all.insert(all.end(), cached.begin(), cached.end());
  EXPECT_LE(Errors(all).mape_pct, 30);
}

// Rows that differ in where the tables are and in nothing else that the file
// states: the faster placement is predicted to be the faster one. Differences
// below 5 % are left out: releases of one software differ by more. One of the
// pairs is the other way round, a T4 at batch 256 in FP32: the only row of its
// source in which the cache is slower than the host's lookups.
TEST_F(PublishedStepsTest, PlacementsAreInTheirOrder) {
  const auto key = [](const PredictedStep& step) {
    const learn::StepRow& row = *step.row;
    return fmt::format("{} {} {} {} {} {}", row.Word("model"), row.Word("gpu"),
                       row.num_gpus, row.Word("global_batch"),
                       row.Word("precision"), row.Word("mode"));
  };
  size_t pairs = 0;
  std::vector<std::string> turned;
  for (const PredictedStep& a : accuracy_.rows) {
    for (const PredictedStep& b : accuracy_.rows) {
      if (a.row->Word("embedding_placement") ==
              b.row->Word("embedding_placement") ||
          key(a) != key(b) ||
          a.row->Word("source").substr(0, 10) !=
              b.row->Word("source").substr(0, 10) ||
          a.row->step_time_ms > 0.95 * b.row->step_time_ms) {
        continue;
      }
      ++pairs;
      if (a.predicted_ms >= b.predicted_ms) {
        turned.push_back(a.row->id);
      }
    }
  }
  EXPECT_GE(pairs, 30u);
  EXPECT_LE(turned.size(), 1u) << fmt::format("{}", fmt::join(turned, "\n"));
}

// Triton on two sockets, TensorFlow on two, one to four nodes of Intel's,
// slices of cloud servers. What each is off by, and which constants saw which
// rows, is in docs/models/cpu_device.md.
TEST_F(PublishedStepsTest, StepsWithoutGpusAreWithinThirtyPercent) {
  const auto all = OnProcessors("");
  ASSERT_EQ(all.size(), 30u);
  fmt::print("  {} rows: MAPE {:.1f} %, GMAE {:.1f} %\n", all.size(),
             Errors(all).mape_pct, Errors(all).gmae_pct);
  EXPECT_LE(Errors(all).mape_pct, 22);
  EXPECT_LE(Errors(OnProcessors("pyt-dlrm-triton-onnx")).mape_pct, 10);
  EXPECT_LE(Errors(OnProcessors("pyt-dlrm-triton-torchscript")).mape_pct, 35);
  EXPECT_LE(Errors(OnProcessors("mlperf")).mape_pct, 20);
  EXPECT_LE(Errors(OnProcessors("deeprec")).mape_pct, 25);
}

// The software of each model in the order of its speed, as published.
TEST_F(PublishedStepsTest, RuntimesOnProcessorsAreInTheirOrder) {
  for (const std::string_view model :
       {"deeprec-dlrm", "deeprec-deepfm", "deeprec-wide_and_deep"}) {
    const auto steps = OnProcessors(model);
    ASSERT_EQ(steps.size(), 3u) << model;  // TensorFlow, oneDNN, BF16.
    EXPECT_GT(steps[0]->predicted_ms, steps[1]->predicted_ms) << model;
    EXPECT_GT(steps[1]->predicted_ms, steps[2]->predicted_ms) << model;
  }
}

TEST_F(PublishedStepsTest, EveryRowIsPredictedOrSkippedWithItsReason) {
  EXPECT_EQ(accuracy_.rows.size() + accuracy_.skipped.size(), rows_.size());
  for (const learn::SkippedStep& skipped : accuracy_.skipped) {
    EXPECT_FALSE(skipped.why.empty()) << skipped.row->id;
    EXPECT_EQ(skipped.why.find("has no rule"), std::string::npos)
        << skipped.why;
  }
  // All that run on one GPU but some models and tables in host memory.
  EXPECT_GE(accuracy_.rows.size(), 768u)
      << view::WriteText(view::StepAccuracyDoc(accuracy_));
}

TEST_F(PublishedStepsTest, ErrorsOverAllRowsDoNotGrow) {
  const ErrorSummary alone = Errors(Select("", /*several=*/false));
  EXPECT_LE(alone.gmae_pct, 9);
  EXPECT_LE(alone.mape_pct, 14);
  // Steps of several nodes are far off as yet.
  EXPECT_LE(accuracy_.all.errors.gmae_pct, 9.7)
      << view::WriteText(view::StepAccuracyDoc(accuracy_));
}

TEST_F(PublishedStepsTest, IntervalsCoverWhatTheySay) {
  EXPECT_GE(accuracy_.all.in_interval, 0.7);
  EXPECT_LE(accuracy_.all.in_interval, 0.9);
}

}  // namespace
}  // namespace stepcast::accuracy
