// stepcast eval overheads: held-out steps against their prediction.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/json_write.h"
#include "base/text_table.h"
#include "cli/data_options.h"
#include "cli/eval_commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "fit/held_out_overheads.h"
#include "ingest/load.h"

namespace stepcast::cli {
namespace {

struct EvaluatedRun {
  std::string path;
  fit::HeldOut held_out;
  double measured_us = 0;     // The mean step.
  double predicted_us = 0;    // Likewise.
  double mean_error_pct = 0;  // Of the mean.
  double step_error_pct = 0;  // Mean of the absolute errors of steps.
  double worst_pct = 0;
  double silent_share = 0;  // Of the steps' time.
  double host_ratio = 0;    // The host's pieces, predicted over measured.
  std::string_view from{};
};

// A run as loaded.
struct LoadedRun {
  std::string path;
  std::vector<fit::StepGraph> steps;
};

Result<LoadedRun> LoadRun(const std::string& path, const ingest::Rules& rules,
                          size_t threads) {
  const std::filesystem::path file(path);
  ASSIGN_OR_RETURN(const ingest::Loaded loaded,
                   ingest::Load({&file, 1}, rules, {.threads = threads}));
  Diagnostics diagnostics;
  ASSIGN_OR_RETURN(std::vector<fit::StepGraph> steps,
                   fit::BuildStepGraphs(loaded.ranks, rules, diagnostics));
  return LoadedRun{.path = path, .steps = std::move(steps)};
}

// From the steady steps of all runs but one.
Result<fit::HeldOut> PredictFromOthers(const std::vector<LoadedRun>& inputs,
                                       size_t left_out) {
  fit::OverheadSamples samples;
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const std::vector<bool> steady = fit::SteadySteps(inputs[i].steps);
    for (size_t j = 0; i != left_out && j < steady.size(); ++j) {
      if (steady[j]) {
        fit::AddSamples(inputs[i].steps[j].graph.data(), i, samples);
      }
    }
  }
  const cost::OverheadTable table(fit::FitOverheads(samples, {}));
  return fit::PredictFrom(table, inputs[left_out].steps);
}

EvaluatedRun Summarize(const std::string& path, fit::HeldOut held_out) {
  EvaluatedRun run{.path = path, .held_out = std::move(held_out)};
  for (const fit::HeldOutRank& row : run.held_out.rows) {
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
  const Progress progress("predicting held-out steps");
  ASSIGN_OR_RETURN(const ingest::Rules rules, ingest::Rules::Load());
  std::vector<LoadedRun> inputs;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(LoadedRun input, LoadRun(path, rules, threads));
    inputs.push_back(std::move(input));
  }
  std::vector<EvaluatedRun> runs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto held_out = leave_one_out ? PredictFromOthers(inputs, i)
                                  : fit::PredictHeldOut(inputs[i].steps, {});
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

std::string ToText(const std::vector<EvaluatedRun>& runs) {
  TextTable table({Align::kLeft, Align::kLeft, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight});
  table.AddRow({"run", "from", "steps", "measured ms", "predicted ms",
                "error %", "a step %", "worst %", "waits %", "host"});
  for (const EvaluatedRun& run : runs) {
    table.AddRow({Printable(run.path), std::string(run.from),
                  fmt::format("{}", run.held_out.rows.size()),
                  fmt::format("{:.3f}", run.measured_us / 1e3),
                  fmt::format("{:.3f}", run.predicted_us / 1e3),
                  fmt::format("{:+.2f}", run.mean_error_pct),
                  fmt::format("{:.2f}", run.step_error_pct),
                  fmt::format("{:.2f}", run.worst_pct),
                  fmt::format("{:.1f}", 100 * run.silent_share),
                  fmt::format("{:.2f}", run.host_ratio)});
  }
  return table.ToString();
}

std::string ToJson(const std::vector<EvaluatedRun>& runs) {
  JsonWriter json;
  json.BeginObject().Key("stepcast").String(Version());
  json.Key("runs").BeginArray();
  for (const EvaluatedRun& run : runs) {
    json.BeginObject().Key("path").String(run.path);
    json.Key("from").String(run.from);
    json.Key("steps_left_out").Int(static_cast<int64_t>(run.held_out.unsteady));
    json.Key("measured_us").Fixed(run.measured_us, 3);
    json.Key("predicted_us").Fixed(run.predicted_us, 3);
    json.Key("error_of_mean").Fixed(run.mean_error_pct / 100, 6);
    json.Key("mean_error_of_steps").Fixed(run.step_error_pct / 100, 6);
    json.Key("worst_error").Fixed(run.worst_pct / 100, 6);
    json.Key("silent_wait_share").Fixed(run.silent_share, 6);
    json.Key("host_ratio").Fixed(run.host_ratio, 6);
    json.Key("steps").BeginArray();
    for (const fit::HeldOutRank& row : run.held_out.rows) {
      json.BeginObject().Key("step").Int(row.step).Key("rank").Int(row.rank);
      json.Key("measured_us").Fixed(ToMicroseconds(row.measured), 3);
      json.Key("predicted_us").Fixed(ToMicroseconds(row.predicted), 3);
      json.EndObject();
    }
    json.EndArray().EndObject();
  }
  json.EndArray().EndObject();
  return json.Take();
}

}  // namespace

Status EvalOverheads(const Words& words) {
  OptionParser parser(
      "eval overheads",
      "Predicts each step of a run with its measured kernels and the overheads "
      "of the\nother half of its steps; with one step, each rank from the "
      "others.",
      "  stepcast eval overheads --data run1/ run2.json.gz");
  DataOptions given;
  bool json = false;
  bool leave_one_out = false;
  AddDataOptions(parser, given,
                 "traces of a profiler, each a file or a directory of "
                 "ranks of one run");
  parser.AddFlag("--leave-one-out", leave_one_out,
                 "instead predict each run from the others together, as "
                 "the shared set would");
  parser.AddFlag("--json", json, "print one JSON object instead");
  ASSIGN_OR_RETURN(const bool go_on, parser.Parse(words));
  if (!go_on) {
    return {};
  }
  ASSIGN_OR_RETURN(const Data data,
                   ReadDataOptions(given, "traces of a profiler"));
  if (leave_one_out && given.data.size() < 2) {
    return Fail(ErrorCode::kInvalidInput,
                "--leave-one-out needs two runs or more in --data");
  }
  ASSIGN_OR_RETURN(const std::vector<EvaluatedRun> runs,
                   Evaluate(given.data, data.threads, leave_one_out));
  return Print(json ? ToJson(runs) : ToText(runs));
}

}  // namespace stepcast::cli
