// stepcast compare: two steps side by side.
#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/ask_again.h"
#include "cli/commands.h"
#include "cli/compare_side.h"
#include "cli/extra_file.h"
#include "cli/fail_on.h"
#include "cli/whatif_command.h"
#include "report/compare.h"
#include "scenario/settings.h"
#include "view/write.h"

namespace stepcast::cli {
namespace {

struct CompareCommand {
  PredictCommand workload;  // Its files are the two sides.
  std::string junit;
};

constexpr std::array kCompareQuantities = {
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

std::array<double, kCompareQuantities.size()> ValuesOf(
    const report::Comparison& comparison) {
  const report::ComparedStep& a = comparison.a;
  const report::ComparedStep& b = comparison.b;
  return {report::PercentLonger(a.step, b.step),
          report::PercentLonger(a.gpu_active, b.gpu_active),
          report::PercentLonger(a.host_busy, b.host_busy)};
}

// The first letters of a file, without blanks and braces.
std::string HeadOf(const std::string& path) {
  const auto source = OpenFile(path);
  std::array<char, 512> head{};
  const auto size = source ? (*source)->Read(head) : Result<size_t>(0);
  std::string text(head.data(), size.value_or(0));
  std::erase_if(text, [](char letter) {
    return std::string_view(" \r\n\t{").find(letter) != std::string_view::npos;
  });
  return text;
}

// Whether a file begins like a ShardingPlan.
bool IsPlan(std::string_view head) {
  return head.starts_with("\"plan\"") ||
         head.find("\"sharding_type\":\"") != std::string_view::npos;
}

// A plan is no step: the model that it is for makes one of it.
Status CheckNoPlans(const std::vector<std::string>& sides) {
  std::vector<std::string> words;
  std::string plan;
  for (const std::string& side : sides) {
    const bool is_plan =
        std::filesystem::is_regular_file(side) && IsPlan(HeadOf(side));
    plan = is_plan && plan.empty() ? side : plan;
    words.push_back(is_plan ? "MODEL@plan=" + side : side);
  }
  return plan.empty()
             ? Status()
             : Fail(ErrorCode::kInvalidInput,
                    fmt::format("{} is a sharding plan; expected the model "
                                "that it is for: `stepcast compare {} --impl "
                                "torchrec --gpus N`",
                                plan, fmt::join(words, " ")));
}

// An option that neither side has a use for is a mistake.
Status CheckSharedOptions(const PredictCommand& options) {
  std::vector<scenario::Scenario> sides;
  for (const std::string& text : options.scenario.workload) {
    PredictCommand command = options;
    RETURN_IF_ERROR(ReadSide(text, command));
    sides.push_back(command.scenario);
  }
  for (const scenario::Setting& setting : scenario::Settings()) {
    if (setting.IsSet(options.scenario) &&
        std::ranges::none_of(sides, [&](const scenario::Scenario& side) {
          return setting.IsSet(side);
        })) {
      return Fail(
          ErrorCode::kInvalidInput,
          fmt::format("{} means nothing for either step", setting.name));
    }
  }
  return {};
}

struct LoadedSide {
  report::ComparedStep step{};
  std::optional<whatif::Case>
      loaded{};  // Not of a prediction read from a file.
  /// Of profiles of its own; the case points into it.
  std::unique_ptr<engine::Predictor> predictor{};
};

Result<LoadedSide> LoadSide(const std::string& text,
                            const PredictCommand& options,
                            engine::Predictor& shared) {
  PredictCommand command = options;
  RETURN_IF_ERROR(ReadSide(text, command));
  if (!command.scenario.samples.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "samples means nothing for compare; intervals are not "
                "compared");
  }
  command.scenario.samples.assign(1, '0');
  const std::string& file = command.scenario.workload.front();
  if (IsReport(file)) {
    ASSIGN_OR_RETURN(const std::string json, ReadFile(file));
    ASSIGN_OR_RETURN(report::ComparedStep step,
                     report::ReadPredictionJson(json, text));
    return LoadedSide{.step = std::move(step)};
  }
  LoadedSide side;
  if (command.scenario.profile != options.scenario.profile) {
    side.predictor = std::make_unique<engine::Predictor>(PredictorOf(command));
  }
  ASSIGN_OR_RETURN(
      side.loaded,
      LoadCase(command, side.predictor ? *side.predictor : shared));
  side.step = report::CompareSide(*side.loaded, text);
  return side;
}

Result<Outcome> CompareSteps(const CompareCommand& command) {
  const PredictCommand& workload = command.workload;
  if (workload.scenario.workload.size() != 2) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("compare takes two steps, not {}; expected "
                            "stepcast compare A B",
                            workload.scenario.workload.size()));
  }
  RETURN_IF_ERROR(
      CheckExtraFile("--junit", command.junit, workload.scenario.workload));
  RETURN_IF_ERROR(
      CheckReportOptions(workload.output, workload.scenario.workload));
  ASSIGN_OR_RETURN(const std::vector<Check> checks,
                   ParseChecks(workload.fail_on, kCompareQuantities));
  RETURN_IF_ERROR(CheckNoPlans(workload.scenario.workload));
  RETURN_IF_ERROR(CheckSharedOptions(workload));
  engine::Predictor predictor = PredictorOf(workload);
  ASSIGN_OR_RETURN(LoadedSide a, LoadSide(workload.scenario.workload[0],
                                          workload, predictor));
  ASSIGN_OR_RETURN(LoadedSide b, LoadSide(workload.scenario.workload[1],
                                          workload, predictor));
  const report::Comparison comparison =
      report::Compare(std::move(a.step), std::move(b.step));
  view::Doc doc =
      report::ComparisonDoc(comparison, a.loaded ? &*a.loaded : nullptr,
                            b.loaded ? &*b.loaded : nullptr);
  std::vector<ExtraFile> files = {PageOf(doc, workload.output)};
  if (!command.junit.empty()) {
    doc.cases = CasesOf(checks, kCompareQuantities, ValuesOf(comparison));
    files.push_back({command.junit, view::WriteJunit(doc)});
  }
  RETURN_IF_ERROR(WriteExtraFiles(files));
  RETURN_IF_ERROR(PrintReport(std::move(doc), workload.output));
  return RunChecks(checks, kCompareQuantities, ValuesOf(comparison));
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
  AddFailOn(parser, kCompareQuantities, command.workload.fail_on);
  AddReportOptions(parser, command.workload.output, "both steps with timelines",
                   "a row for each op");
  ASSIGN_OR_RETURN(const bool go_on, parser.Parse(words));
  return go_on ? CompareSteps(command) : Result<Outcome>(Outcome::kDone);
}

}  // namespace stepcast::cli
