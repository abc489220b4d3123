// eval overheads: held-out steps against their prediction.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/ask.h"
#include "api/eval_data.h"
#include "base/units.h"
#include "learn/fit/overheads/held_out_overheads.h"
#include "trace/read/load.h"
#include "view/doc.h"

namespace stepcast::api {
namespace {

struct EvaluatedRun {
  std::string path;
  learn::HeldOut held_out;
  double measured_us = 0;     // The mean step.
  double predicted_us = 0;    // Likewise.
  double mean_error_pct = 0;  // Of the mean.
  double step_error_pct = 0;  // Mean of the absolute errors of steps.
  double worst_pct = 0;
  double silent_share = 0;  // Of the steps' time.
  double host_ratio = 0;    // The host's segments, predicted over measured.
  std::string_view from{};
};

// A run as loaded.
struct LoadedRun {
  std::string path;
  std::vector<learn::StepGraph> steps;
};

Result<LoadedRun> LoadRun(const std::string& path, const trace::Rules& rules,
                          size_t threads) {
  const std::filesystem::path file(path);
  ASSIGN_OR_RETURN(const trace::Loaded loaded,
                   trace::Load({&file, 1}, rules, {.threads = threads}));
  Diagnostics diagnostics;
  ASSIGN_OR_RETURN(std::vector<learn::StepGraph> steps,
                   learn::BuildStepGraphs(loaded.ranks, rules, diagnostics));
  return LoadedRun{.path = path, .steps = std::move(steps)};
}

// From the steady steps of all runs but one.
Result<learn::HeldOut> PredictFromOthers(const std::vector<LoadedRun>& inputs,
                                         size_t left_out) {
  learn::OverheadSamples samples;
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const std::vector<bool> steady = learn::SteadySteps(inputs[i].steps);
    for (size_t j = 0; i != left_out && j < steady.size(); ++j) {
      if (steady[j]) {
        learn::AddSamples(inputs[i].steps[j].graph.data(), i, samples);
      }
    }
  }
  const cost::OverheadTable table(learn::FitOverheads(samples, {}));
  return learn::PredictFrom(table, inputs[left_out].steps);
}

EvaluatedRun Summarize(const std::string& path, learn::HeldOut held_out) {
  EvaluatedRun run{.path = path, .held_out = std::move(held_out)};
  for (const learn::HeldOutRank& row : run.held_out.rows) {
    const double measured = ToMicroseconds(row.measured);
    const double predicted = ToMicroseconds(row.predicted);
    const double error = 100 * std::abs(predicted / measured - 1);
    run.measured_us += measured;
    run.predicted_us += predicted;
    run.step_error_pct += error;
    run.worst_pct = std::max(run.worst_pct, error);
  }
  const auto count = static_cast<double>(run.held_out.rows.size());
  run.silent_share = ToMicroseconds(run.held_out.silent) / run.measured_us;
  run.mean_error_pct = 100 * (run.predicted_us / run.measured_us - 1);
  run.measured_us /= count;
  run.predicted_us /= count;
  run.step_error_pct /= count;
  run.host_ratio = ToMicroseconds(run.held_out.host_predicted) /
                   ToMicroseconds(run.held_out.host_measured);
  return run;
}

Result<std::vector<EvaluatedRun>> Evaluate(
    const std::vector<std::string>& paths, size_t threads, bool leave_one_out) {
  ASSIGN_OR_RETURN(const trace::Rules rules, trace::Rules::Load());
  std::vector<LoadedRun> inputs;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(LoadedRun input, LoadRun(path, rules, threads));
    inputs.push_back(std::move(input));
  }
  std::vector<EvaluatedRun> runs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto held_out = leave_one_out ? PredictFromOthers(inputs, i)
                                  : learn::PredictHeldOut(inputs[i].steps, {});
    if (!held_out) {
      return Prefixed(inputs[i].path, held_out.error());
    }
    runs.push_back(Summarize(inputs[i].path, *std::move(held_out)));
    runs.back().from = leave_one_out                  ? "other runs"
                       : runs.back().held_out.by_rank ? "other ranks"
                                                      : "other half";
  }
  return runs;
}

view::Doc OverheadsDoc(const std::vector<EvaluatedRun>& runs) {
  constexpr int kErrorDecimals = 2;
  view::Table table{
      .key = "runs",
      .title = "runs",
      .columns = {
          {.key = "path", .label = "run"},
          {.key = "from", .label = "from"},
          {.key = "steps_left_out"},
          {.label = "steps"},
          {.key = "measured_us", .label = "measured"},
          {.key = "predicted_us", .label = "predicted"},
          {.key = "error_of_mean",
           .label = "error",
           .decimals = kErrorDecimals,
           .sign = true},
          {.key = "mean_error_of_steps",
           .label = "per step",
           .decimals = kErrorDecimals},
          {.key = "worst_error", .label = "worst", .decimals = kErrorDecimals},
          {.key = "silent_wait_share", .label = "waits"},
          {.key = "host_ratio",
           .label = "host, predicted to measured",
           .decimals = kErrorDecimals},
          {.key = "steps"}}};
  for (const EvaluatedRun& run : runs) {
    view::Table steps{.columns = {{.key = "step"},
                                  {.key = "rank"},
                                  {.key = "measured_us"},
                                  {.key = "predicted_us"}}};
    for (const learn::HeldOutRank& row : run.held_out.rows) {
      steps.rows.push_back({row.step, row.rank, row.measured, row.predicted});
    }
    table.rows.push_back(
        {run.path, std::string(run.from),
         static_cast<int64_t>(run.held_out.unsteady),
         std::ssize(run.held_out.rows), FromMicroseconds(run.measured_us),
         FromMicroseconds(run.predicted_us),
         view::Share{run.mean_error_pct / kPercent},
         view::Share{run.step_error_pct / kPercent},
         view::Share{run.worst_pct / kPercent}, view::Share{run.silent_share},
         run.host_ratio,
         std::make_shared<const view::Table>(std::move(steps))});
  }
  view::Doc doc;
  doc.title = "steps predicted from the overheads of others";
  doc.csv = table;
  doc.csv.columns.pop_back();  // Steps do not fit into a cell.
  doc.blocks.emplace_back(std::move(table));
  return doc;
}

Result<Answer> AskEvalOverheads(const scenario::Question& question,
                                const Options& options) {
  RETURN_IF_ERROR(DataOf(question, "traces of a profiler"));
  const std::vector<std::string>& data = question.All("data");
  const bool leave_one_out = question.Has("leave-one-out");
  if (leave_one_out && data.size() < 2) {
    return Fail(ErrorCode::kInvalidInput,
                "--leave-one-out needs two runs or more in --data");
  }
  options.ReportProgress("predicting held-out steps");
  ASSIGN_OR_RETURN(const std::vector<EvaluatedRun> runs,
                   Evaluate(data, options.threads, leave_one_out));
  return Answer{.doc = OverheadsDoc(runs)};
}

}  // namespace

Result<std::vector<std::filesystem::path>> DataOf(
    const scenario::Question& question, std::string_view expected) {
  if (!question.scenario.workload.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} takes no '{}' but a report to rerun; "
                            "expected --data and {}",
                            question.verb, question.scenario.workload.front(),
                            expected));
  }
  const std::vector<std::string>& data = question.All("data");
  if (data.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("no --data given; expected {}", expected));
  }
  return std::vector<std::filesystem::path>(data.begin(), data.end());
}

Verb EvalOverheadsVerb() {
  return {
      .name = "eval overheads",
      .about =
          "Predicts each step of a run with its measured kernels and the "
          "overheads of the\nother half of its steps; with one step, each rank "
          "from the others.",
      .examples = "  stepcast eval overheads --data run1/ run2.json.gz",
      .words = "REPORT",
      .words_help = kReportHelp,
      .page = "the report",
      .rows = "a row for each run",
      .takes =
          [](const scenario::Setting& setting) {
            return setting.name == "workload";
          },
      .arguments =
          {DataArgument("traces of a profiler, each a file or a directory of "
                        "ranks of one run"),
           {.name = "leave-one-out",
            .value = "",
            .help = "instead predict each run from the others together, as the "
                    "shared set would",
            .kind = Argument::Kind::kFlag}},
      .ask = AskEvalOverheads};
}

}  // namespace stepcast::api
