// What changes were predicted to do against what they did. Skipped where the
// data is absent.
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "learn/judge/step_words.h"
#include "learn/measured/step_rows.h"
#include "tests/shared/shared_traces.h"
#include "trace/build/build_graph.h"
#include "whatif/apply.h"
#include "whatif/case.h"
#include "whatif/change.h"

namespace stepcast::accuracy {
namespace {

using whatif::Case;
using whatif::Change;

Change ChangeOf(const std::string& text) {
  auto change = whatif::ParseChange(text);
  EXPECT_TRUE(change) << change.error().message;
  return change ? *std::move(change) : Change{};
}

// Step `number` of a run, replayed.
Result<Case> LoadStep(const std::string& run, int64_t number) {
  const trace::Loaded loaded =
      view::LoadTraces({"dlrm_torchrec_4xV100/" + run});
  Diagnostics diagnostics;
  ASSIGN_OR_RETURN(ir::Graph graph,
                   trace::BuildGraph(loaded.ranks, view::BuiltInRules(),
                                     {.step = number}, diagnostics));
  ASSIGN_OR_RETURN(engine::Machine machine,
                   scenario::MachineOfSteps("v100-sxm-16gb", "", graph.data()));
  return whatif::CaseOfTrace(
      std::make_shared<const ir::Graph>(std::move(graph)), std::move(machine),
      {});
}

// Over the ranks: each has a clock of its own for where its step begins, but in
// the mean they keep step.
double MeanStepMs(const Case& subject) {
  double sum = 0;
  for (const engine::RankAccount& account : subject.result.accounts) {
    sum += ToMilliseconds(account.step);
  }
  return sum / static_cast<double>(subject.result.accounts.size());
}

// Both runs are of one model on one machine; in one a rank is held back by a
// second in every step. The first recorded step, 4, allocates memory and does
// not repeat.
TEST(WhatifTruthTest, StepsWithoutTheStragglerAreThoseOfTheRunWithoutIt) {
  if (!std::filesystem::exists(view::TraceFolder())) {
    GTEST_SKIP() << "no traces in " << view::TraceFolder();
  }
  scenario::Resolver resolver;
  const Change change = ChangeOf("remove-straggler");
  for (const int64_t step : {5, 6}) {
    const auto before = LoadStep("straggler_1s", step);
    const auto truth = LoadStep("run3", step);
    ASSERT_TRUE(before && truth);
    const auto changed = whatif::Apply(*before, {&change, 1}, resolver);
    ASSERT_TRUE(changed) << changed.error().message;
    const double predicted = MeanStepMs(changed->after);
    const double measured = MeanStepMs(*truth);
    const double error = 100 * (predicted / measured - 1);
    std::cout << fmt::format(
        "step {}: with the straggler {:.2f} ms, without {:.2f} ms, run3 {:.2f} "
        "ms, {:+.1f} %; slowest rank {:.2f} for {:.2f} ms\n",
        step, MeanStepMs(*before), predicted, measured, error,
        ToMilliseconds(changed->after.result.step),
        ToMilliseconds(truth->result.step));
    EXPECT_LE(std::abs(error), 10) << step;
  }
}

// Published rows, and a change that leads from one to another.
class PublishedChangesTest : public ::testing::Test {
 protected:
  struct Speedup {
    std::string label;
    double measured = 0;
    double predicted = 0;
    double error() const { return 100 * (predicted / measured - 1); }
  };

  void SetUp() override {
    const std::filesystem::path file =
        std::filesystem::path(STEPCAST_SHARED_DATA) / "published" /
        "dlrm_end_to_end.csv";
    if (!std::filesystem::exists(file)) {
      GTEST_SKIP() << "no published results in " << file;
    }
    auto rows = learn::ReadStepRows({&file, 1});
    ASSERT_TRUE(rows) << rows.error().message;
    rows_ = *std::move(rows);
    auto words = learn::StepWords::Load();
    ASSERT_TRUE(words) << words.error().message;
    words_ = *std::move(words);
  }

  const learn::StepRow& Row(const std::string& id) const {
    for (const learn::StepRow& row : rows_) {
      if (row.id == id) {
        return row;
      }
    }
    ADD_FAILURE() << "no row " << id;
    return rows_.front();
  }

  // How many times as fast the step gets, measured and predicted.
  Speedup Compare(const std::string& from, const std::string& to,
                  const std::string& change_text) {
    const learn::StepRow& slow = Row(from);
    learn::StepMeaning meaning = words_.MeaningOf(slow, resolver_);
    EXPECT_EQ(meaning.why_not, "") << from;
    meaning.job.options.samples = 0;
    const auto before = whatif::CaseOfModel(meaning.job, resolver_);
    EXPECT_TRUE(before) << before.error().message;
    const Change change = ChangeOf(change_text);
    const auto changed = whatif::Apply(*before, {&change, 1}, resolver_);
    EXPECT_TRUE(changed) << changed.error().message;
    return {.label = fmt::format("{} {}", from, change_text),
            .measured = slow.step_time_ms / Row(to).step_time_ms,
            .predicted = ToMilliseconds(before->result.step) /
                         ToMilliseconds(changed->after.result.step)};
  }

  static void Print(const std::vector<Speedup>& speedups) {
    for (const Speedup& speedup : speedups) {
      std::cout << fmt::format(
          "{:72}  measured x{:.2f}  predicted x{:.2f}  {:+.1f} %\n",
          speedup.label, speedup.measured, speedup.predicted, speedup.error());
    }
  }

  std::vector<learn::StepRow> rows_;
  learn::StepWords words_;
  scenario::Resolver resolver_;
};

// Releases that ran FP32 and mixed precision side by side.
TEST_F(PublishedChangesTest, MixedPrecisionIsWorthWhatItWas) {
  std::vector<Speedup> speedups;
  for (const std::string row :
       {"dgx-1-small-1g-{}-4154bda6", "dgx-2-small-1g-{}-4154bda6",
        "dgx-1-small-1g-{}-15af494a", "dgx-2-small-1g-{}-15af494a",
        "dgx-1-small-1g-{}-4e764dcd", "dgx-2-small-1g-{}-4e764dcd",
        "dgx-1-small-1g-{}-3745b498", "dgx-2-small-1g-{}-3745b498"}) {
    const std::string id = "pyt-dlrm-train-v100-32gb-" + row;
    speedups.push_back(Compare(fmt::format(fmt::runtime(id), "fp32"),
                               fmt::format(fmt::runtime(id), "amp-fp16"),
                               "precision=amp-fp16"));
  }
  Print(speedups);
  for (const Speedup& speedup : speedups) {
    EXPECT_LE(std::abs(speedup.error()), 15) << speedup.label;
  }
}

// The first release looked 26 tables up one by one; the next in one kernel, and
// with the MLPs and the interaction fused.
TEST_F(PublishedChangesTest, OneLookupInsteadOfOneATableIsWorthWhatItWas) {
  const auto compare = [this](std::string_view type) {
    return Compare(
        fmt::format("pyt-dlrm-train-v100-32gb-dgx-1-small-1g-{}-15807b36",
                    type),
        fmt::format("pyt-dlrm-train-v100-32gb-dgx-1-small-1g-{}-3745b498",
                    type),
        "impl=nvidia");
  };
  const Speedup fp32 = compare("fp32");
  const Speedup mixed = compare("amp-fp16");
  Print({fp32, mixed});
  EXPECT_LE(std::abs(fp32.error()), 15);
  EXPECT_LE(std::abs(mixed.error()), 15);
}

TEST_F(PublishedChangesTest, CudaGraphsInInferenceAreWorthWhatTheyWere) {
  std::vector<Speedup> speedups;
  for (const learn::StepRow& row : rows_) {
    const size_t at = row.id.find("-goff-");
    if (row.id.starts_with("pyt-dlrm-inf-v100") && at != std::string::npos) {
      std::string with = row.id;
      with.replace(at, 6, "-gon-");
      speedups.push_back(Compare(row.id, with, "cuda-graphs=fwd"));
    }
  }
  Print(speedups);
  ASSERT_EQ(speedups.size(), 30u);
  for (const Speedup& speedup : speedups) {
    EXPECT_LE(std::abs(speedup.error()), 15) << speedup.label;
  }
}

}  // namespace
}  // namespace stepcast::accuracy
