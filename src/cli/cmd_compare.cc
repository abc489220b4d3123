// stepcast compare: two steps side by side.
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/file.h"
#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/extra_file.h"
#include "cli/fail_on.h"
#include "cli/output.h"
#include "cli/whatif_command.h"
#include "report/compare.h"

namespace stepcast::cli {
namespace {

struct CompareCommand {
  PredictCommand workload;  // Its files are the two sides.
  std::string junit;
};

constexpr std::array kQuantities = {
    Quantity{.name = "step",
             .unit = "%",
             .help = "how much longer B's step is than A's"},
    Quantity{.name = "gpu_active",
             .unit = "%",
             .help = "the same of the time something runs on the GPU"},
    Quantity{.name = "host_busy",
             .unit = "%",
             .help = "the same of the host's time"},
};

std::array<double, kQuantities.size()> ValuesOf(
    const report::Comparison& comparison) {
  const report::ComparedStep& a = comparison.a;
  const report::ComparedStep& b = comparison.b;
  return {report::PercentLonger(a.step, b.step),
          report::PercentLonger(a.gpu_active, b.gpu_active),
          report::PercentLonger(a.host_busy, b.host_busy)};
}

// The words that may stand behind '@'.
std::map<std::string_view, std::string*> SettingsOf(PredictCommand& command) {
  return {{"gpu", &command.gpu},
          {"gpus", &command.gpus},
          {"nodes", &command.nodes},
          {"platform", &command.platform},
          {"batch", &command.batch},
          {"mode", &command.mode},
          {"precision", &command.precision},
          {"impl", &command.impl},
          {"cuda-graphs", &command.cuda_graphs},
          {"placement", &command.placement},
          {"plan", &command.plan},
          {"overheads", &command.overheads},
          {"step", &command.step}};
}

// "dlrm_mlperf@gpu=h100-sxm-80gb,batch=4096": what stands behind '@' goes
// before the options of the command. A name that exists is a file.
Status ReadSide(const std::string& text, PredictCommand& command) {
  const size_t at =
      std::filesystem::exists(text) ? std::string::npos : text.find('@');
  command.input.files = {text.substr(0, at)};
  std::string_view rest = at == std::string::npos
                              ? std::string_view()
                              : std::string_view(text).substr(at + 1);
  const auto settings = SettingsOf(command);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
    const size_t equals = std::min(pair.find('='), pair.size());
    const auto found = settings.find(pair.substr(0, equals));
    if (found == settings.end() || equals == pair.size()) {
      std::vector<std::string_view> names;
      names.reserve(settings.size());
      for (const auto& [name, value] : settings) {
        names.push_back(name);
      }
      return Fail(ErrorCode::kInvalidInput,
                  found == settings.end()
                      ? Unknown("setting", pair.substr(0, equals), names)
                      : fmt::format("{} has no value in '{}'; expected "
                                    "NAME=VALUE",
                                    pair, text));
    }
    *found->second = std::string(pair.substr(equals + 1));
  }
  return {};
}

// Whether a file begins like what `predict --json` writes.
bool IsPrediction(const std::string& path) {
  const auto source = OpenFile(path);
  std::array<char, 16> head{};
  const auto size = source ? (*source)->Read(head) : Result<size_t>(0);
  std::string_view text(head.data(), size.value_or(0));
  const size_t first = text.find_first_not_of(" \r\n\t{");
  text.remove_prefix(std::min(first, text.size()));
  return text.starts_with("\"version\"");
}

struct LoadedSide {
  report::ComparedStep step{};
  std::optional<whatif::Case>
      loaded{};  // Not of a prediction read from a file.
};

Result<LoadedSide> LoadSide(const std::string& text, PredictCommand command,
                            engine::Predictor& predictor) {
  command.samples = "0";  // Intervals are not compared.
  RETURN_IF_ERROR(ReadSide(text, command));
  const std::string& file = command.input.files.front();
  if (std::filesystem::is_regular_file(file) && IsPrediction(file)) {
    ASSIGN_OR_RETURN(const std::string json, ReadFile(file));
    ASSIGN_OR_RETURN(report::ComparedStep step,
                     report::ReadPredictionJson(json, text));
    return LoadedSide{.step = std::move(step)};
  }
  ASSIGN_OR_RETURN(whatif::Case loaded, LoadCase(command, predictor));
  report::ComparedStep step = report::CompareSide(loaded, text);
  return LoadedSide{.step = std::move(step), .loaded = std::move(loaded)};
}

std::string JunitOf(const report::Comparison& comparison,
                    const std::vector<Check>& checks) {
  std::vector<report::CheckedLimit> limits;
  limits.reserve(checks.size());
  const auto values = ValuesOf(comparison);
  for (const Check& check : checks) {
    limits.push_back(
        {.text = check.text,
         .failure = FailureOf(check, kQuantities, values[check.quantity])
                        .value_or("")});
  }
  return report::JunitXml(comparison, limits);
}

Result<Outcome> CompareSteps(const CompareCommand& command) {
  const PredictCommand& workload = command.workload;
  if (workload.input.files.size() != 2) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("compare takes two steps, not {}; expected "
                            "stepcast compare A B",
                            workload.input.files.size()));
  }
  RETURN_IF_ERROR(
      CheckExtraFile("--junit", command.junit, workload.input.files));
  RETURN_IF_ERROR(
      CheckExtraFile("--html", workload.html, workload.input.files));
  ASSIGN_OR_RETURN(const std::vector<Check> checks,
                   ParseChecks(workload.fail_on, kQuantities));
  engine::Predictor predictor = PredictorOf(workload);
  ASSIGN_OR_RETURN(LoadedSide a,
                   LoadSide(workload.input.files[0], workload, predictor));
  ASSIGN_OR_RETURN(LoadedSide b,
                   LoadSide(workload.input.files[1], workload, predictor));
  const report::Comparison comparison =
      report::Compare(std::move(a.step), std::move(b.step));
  std::vector<ExtraFile> files;
  if (!workload.html.empty()) {
    files.push_back(
        {workload.html,
         report::ComparisonHtml(comparison, a.loaded ? &*a.loaded : nullptr,
                                b.loaded ? &*b.loaded : nullptr, Version())});
  }
  if (!command.junit.empty()) {
    files.push_back({command.junit, JunitOf(comparison, checks)});
  }
  RETURN_IF_ERROR(WriteExtraFiles(files));
  RETURN_IF_ERROR(Print(workload.json
                            ? report::ComparisonJson(comparison, Version())
                            : report::ComparisonText(comparison)));
  return RunChecks(checks, kQuantities, ValuesOf(comparison));
}

}  // namespace

Result<Outcome> RunCompare(const Words& words) {
  OptionParser parser(
      "compare",
      "Compares two steps part by part and op by op. A step is a trace (as it "
      "was measured), a\nmodel, with settings of its own behind '@', or a "
      "file that `stepcast predict --json` wrote.",
      "  stepcast compare before.json.gz after.json.gz --fail-on 'step>+3%'\n"
      "  stepcast compare dlrm_mlperf@gpu=a100-sxm-80gb "
      "dlrm_mlperf@gpu=h100-sxm-80gb\n"
      "  stepcast compare baseline.json dlrm_mlperf@batch=4096 --junit "
      "steps.xml");
  CompareCommand command;
  AddWorkloadOptions(parser, command.workload);
  parser.Add("--junit", command.junit,
             "write what became of the checks as JUnit XML", "FILE");
  parser.Add("--html", command.workload.html,
             "write the comparison as one HTML file with timelines", "FILE");
  AddFailOn(parser, kQuantities, command.workload.fail_on);
  parser.AddFlag("--json", command.workload.json,
                 "print one JSON object instead");
  ASSIGN_OR_RETURN(const bool go_on, parser.Parse(words));
  return go_on ? CompareSteps(command) : Result<Outcome>(Outcome::kDone);
}

}  // namespace stepcast::cli
