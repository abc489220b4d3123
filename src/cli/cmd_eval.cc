// stepcast eval: predicted against measured.
#include <array>
#include <filesystem>
#include <utility>

#include "base/json_write.h"
#include "base/nearest.h"
#include "cli/collective_commands.h"
#include "cli/commands.h"
#include "cli/eval_steps.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/overhead_commands.h"
#include "cli/progress.h"
#include "cost/collectives/collective_store.h"
#include "cost/profile.h"
#include "fit/fit_collectives.h"
#include "fit/leave_out.h"
#include "measurements/collective_rows.h"
#include "measurements/kernel_rows.h"
#include "report/collective_accuracy.h"
#include "report/kernel_accuracy.h"
#include "report/kernel_accuracy_text.h"
#include "report/leave_out_text.h"
#include "report/network_comparison.h"

namespace stepcast::cli {
namespace {

using measurements::Part;

struct PartName {
  std::string_view name;
  std::optional<Part> part;
};
constexpr std::array kParts = {
    PartName{"all", std::nullopt}, PartName{"fit", Part::kFit},
    PartName{"validation", Part::kValidation}, PartName{"test", Part::kTest}};

Result<std::optional<Part>> ParsePart(const std::string& text) {
  std::vector<std::string_view> known;
  for (const PartName& part : kParts) {
    if (part.name == text) {
      return part.part;
    }
    known.push_back(part.name);
  }
  return Fail(ErrorCode::kInvalidInput, Unknown("--part", text, known));
}

Status EvalCollectivesWithoutGpus(const measurements::CollectiveRows& rows,
                                  size_t threads, bool json) {
  ASSIGN_OR_RETURN(const fit::CollectiveLeaveOut table,
                   fit::LeaveOutCollectives(rows, {}, threads));
  if (!json) {
    return Print(report::CollectiveLeaveOutText(table));
  }
  JsonWriter writer;
  writer.BeginObject();
  writer.Key("version").String(Version());
  report::WriteCollectiveLeaveOut(writer, table);
  writer.EndObject();
  return Print(writer.Take());
}

Status EvalWithoutGpus(const std::vector<std::filesystem::path>& paths,
                       size_t threads, bool json) {
  const Progress progress("leaving out one GPU after another");
  ASSIGN_OR_RETURN(const measurements::KernelRows rows,
                   measurements::ReadKernelRows(paths));
  ASSIGN_OR_RETURN(const measurements::CollectiveRows collectives,
                   measurements::ReadCollectiveRows(paths));
  if (!collectives.rows.empty() && rows.rows.empty()) {
    return EvalCollectivesWithoutGpus(collectives, threads, json);
  }
  ASSIGN_OR_RETURN(const fit::LeaveOutTable table,
                   fit::LeaveOneOut(rows, threads));
  return Print(json ? report::LeaveOutJson(table, Version())
                    : report::LeaveOutText(table));
}

// Kernels, collectives or both: whatever the data holds.
std::string EvalOutput(const report::KernelAccuracy& accuracy,
                       const measurements::KernelRows& rows,
                       const report::CollectiveAccuracy& collectives,
                       bool json) {
  const bool none = collectives.lines.empty();
  if (json) {
    return report::KernelAccuracyJson(accuracy, rows, Version(),
                                      none ? nullptr : &collectives);
  }
  if (none) {
    return report::KernelAccuracyText(accuracy, rows);
  }
  const std::string text = report::CollectiveAccuracyText(collectives);
  return rows.rows.empty()
             ? text
             : report::KernelAccuracyText(accuracy, rows) + "\n" + text;
}

// The collectives of the data, where it holds any.
Result<report::CollectiveAccuracy> JudgeCollectives(
    const std::vector<std::filesystem::path>& paths,
    const std::vector<std::string>& profiles,
    const std::vector<std::string>& platform_texts, std::optional<Part> part) {
  ASSIGN_OR_RETURN(const measurements::CollectiveRows rows,
                   measurements::ReadCollectiveRows(paths));
  ASSIGN_OR_RETURN(const auto platforms, FindPlatforms(platform_texts));
  const cost::CollectiveStore store(
      std::vector<std::filesystem::path>(profiles.begin(), profiles.end()));
  return report::EvaluateCollectives(rows, store, platforms, part);
}

Status EvalKernels(const Words& words) {
  OptionParser parser(
      "eval kernels",
      "Compares predicted kernel times with measured ones, by op, GPU and "
      "type.",
      "  stepcast eval kernels --data measured/gemm/v100-pcie-32gb.csv\n"
      "  stepcast eval kernels --data measured/ --part test --json");
  std::vector<std::string> data;
  std::vector<std::string> profiles;
  std::vector<std::string> platforms;
  std::string part_text = "all";
  std::string threads_text;
  bool json = false;
  bool leave_one_out = false;
  parser.Add("--data", data,
             "CSV files, or directories with them: columns gpu, time_us, "
             "timing and those of a kernel");
  parser.Add("--part", part_text,
             "all rows, or those of a fit's part: fit, "
             "validation, test (by a hash of the shape)");
  parser.Add("--profile", profiles,
             "directories written by 'stepcast fit kernels' or "
             "'fit collectives', asked before what is built in");
  parser.Add("--platform", platforms,
             "platform files that name the systems of measured "
             "collectives");
  parser.Add("--threads", threads_text,
             "how many to use; default: one per core");
  parser.AddFlag("--leave-one-out", leave_one_out,
                 "leave each GPU's chip out of every fit in turn and "
                 "predict its test rows; takes some minutes and no "
                 "--part or --profile");
  bool network = false;
  parser.AddFlag("--network", network,
                 "instead compare FP32 products with the papers' "
                 "network, trained here; most of a minute a GPU");
  parser.AddFlag("--json", json, "print one JSON object instead");
  ASSIGN_OR_RETURN(const bool go_on, parser.Parse(words));
  if (!go_on) {
    return {};
  }
  if (data.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "no --data given; expected CSV files or directories with them");
  }
  ASSIGN_OR_RETURN(const auto part, ParsePart(part_text));
  ASSIGN_OR_RETURN(const auto threads,
                   ParseNumber("--threads", threads_text, 1));
  const auto thread_count = static_cast<size_t>(threads.value_or(0));
  const std::vector<std::filesystem::path> paths(data.begin(), data.end());
  if (leave_one_out) {
    if (!profiles.empty() || part) {
      return Fail(ErrorCode::kInvalidInput,
                  "--leave-one-out makes its own fits and judges by their test "
                  "rows: leave out --part and --profile");
    }
    return EvalWithoutGpus(paths, thread_count, json);
  }
  const Progress progress("pricing measured kernels");
  ASSIGN_OR_RETURN(const measurements::KernelRows rows,
                   measurements::ReadKernelRows(paths));
  const cost::ProfileStore store(
      std::vector<std::filesystem::path>(profiles.begin(), profiles.end()));
  if (network) {
    ASSIGN_OR_RETURN(const std::string text,
                     report::CompareWithNetwork(rows, store, thread_count));
    return Print(text);
  }
  ASSIGN_OR_RETURN(const report::KernelAccuracy accuracy,
                   report::EvaluateKernels(
                       rows, store, {.part = part, .threads = thread_count}));
  ASSIGN_OR_RETURN(const report::CollectiveAccuracy collectives,
                   JudgeCollectives(paths, profiles, platforms, part));
  return Print(EvalOutput(accuracy, rows, collectives, json));
}

}  // namespace

Status RunEval(const Words& words) {
  constexpr std::array<std::string_view, 3> kKinds = {"kernels", "overheads",
                                                      "steps"};
  if (!words.empty() && words.front() == "kernels") {
    return EvalKernels(Words(words.begin() + 1, words.end()));
  }
  if (!words.empty() && words.front() == "overheads") {
    return EvalOverheads(Words(words.begin() + 1, words.end()));
  }
  if (!words.empty() && words.front() == "steps") {
    return EvalSteps(Words(words.begin() + 1, words.end()));
  }
  if (words.empty() || words.front() == "--help" || words.front() == "-h") {
    return EvalKernels({"--help"});
  }
  return Fail(ErrorCode::kInvalidInput,
              Unknown("kind of evaluation", words.front(), kKinds));
}

}  // namespace stepcast::cli
