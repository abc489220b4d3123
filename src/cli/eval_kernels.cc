// stepcast eval: predicted against measured.
#include <array>
#include <filesystem>
#include <utility>

#include "base/nearest.h"
#include "cli/data_options.h"
#include "cli/eval_commands.h"
#include "cli/output.h"
#include "cli/profile_device.h"
#include "cli/progress.h"
#include "cli/report_options.h"
#include "cost/collectives/collective_store.h"
#include "cost/profile.h"
#include "fit/fit_collectives.h"
#include "fit/leave_out.h"
#include "hw/cluster.h"
#include "measurements/collective_rows.h"
#include "measurements/kernel_rows.h"
#include "report/accuracy_doc.h"
#include "report/collective_accuracy.h"
#include "report/kernel_accuracy.h"
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
                                  size_t threads, const ReportOptions& output) {
  ASSIGN_OR_RETURN(const fit::CollectiveLeaveOut table,
                   fit::LeaveOutCollectives(rows, {}, threads));
  return WriteReport(report::CollectiveLeaveOutDoc(table), output);
}

Status EvalWithoutGpus(const std::vector<std::filesystem::path>& paths,
                       size_t threads, const ReportOptions& output) {
  const Progress progress("leaving out one GPU after another");
  ASSIGN_OR_RETURN(const measurements::KernelRows rows,
                   measurements::ReadKernelRows(paths));
  ASSIGN_OR_RETURN(const measurements::CollectiveRows collectives,
                   measurements::ReadCollectiveRows(paths));
  if (!collectives.rows.empty() && rows.rows.empty()) {
    return EvalCollectivesWithoutGpus(collectives, threads, output);
  }
  ASSIGN_OR_RETURN(const fit::LeaveOutTable table,
                   fit::LeaveOneOut(rows, threads));
  return WriteReport(report::LeaveOutDoc(table), output);
}

// The collectives of the data, where it holds any.
Result<report::CollectiveAccuracy> JudgeCollectives(
    const std::vector<std::filesystem::path>& paths,
    const std::vector<std::string>& profiles,
    const std::vector<std::string>& platform_texts, std::optional<Part> part) {
  ASSIGN_OR_RETURN(const measurements::CollectiveRows rows,
                   measurements::ReadCollectiveRows(paths));
  ASSIGN_OR_RETURN(const auto platforms, hw::FindPlatforms(platform_texts));
  const cost::CollectiveStore store(
      std::vector<std::filesystem::path>(profiles.begin(), profiles.end()));
  return report::EvaluateCollectives(rows, store, platforms, part);
}

// A device that the measurements describe, or a profile made of them.
Result<std::optional<hw::Device>> FindOwn(
    std::vector<std::filesystem::path> directories,
    const std::vector<std::string>& profiles) {
  directories.insert(directories.end(), profiles.begin(), profiles.end());
  return FindOwnDevice(directories);
}

}  // namespace

Status EvalKernels(const Words& words) {
  OptionParser parser(
      "eval kernels",
      "Compares predicted kernel times with measured ones, by op, GPU and "
      "type.",
      "  stepcast eval kernels --data measured/gemm/v100-pcie-32gb.csv\n"
      "  stepcast eval kernels --data measured/ --part test --json\n"
      "  stepcast eval kernels --data measured/ --profile my_profile");
  DataOptions given;
  std::vector<std::string> profiles;
  std::vector<std::string> platforms;
  std::string part_text = "all";
  ReportOptions output;
  bool leave_one_out = false;
  AddDataOptions(parser, given,
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
  parser.AddFlag("--leave-one-out", leave_one_out,
                 "leave each GPU's chip out of every fit in turn and "
                 "predict its test rows; takes some minutes and no "
                 "--part or --profile");
  bool network = false;
  parser.AddFlag("--network", network,
                 "instead compare FP32 products with the papers' "
                 "network, trained here; most of a minute a GPU");
  AddReportOptions(parser, output, "the report",
                   "a row for each op, GPU and type");
  ASSIGN_OR_RETURN(const bool go_on, parser.Parse(words));
  if (!go_on) {
    return {};
  }
  RETURN_IF_ERROR(CheckReportOptions(output, given.data));
  ASSIGN_OR_RETURN(const Data data, ReadDataOptions(given, kCsvFiles));
  ASSIGN_OR_RETURN(const auto part, ParsePart(part_text));
  if (leave_one_out) {
    if (!profiles.empty() || part) {
      return Fail(ErrorCode::kInvalidInput,
                  "--leave-one-out makes its own fits and judges by their test "
                  "rows: leave out --part and --profile");
    }
    return EvalWithoutGpus(data.paths, data.threads, output);
  }
  const Progress progress("pricing measured kernels");
  ASSIGN_OR_RETURN(const measurements::KernelRows rows,
                   measurements::ReadKernelRows(data.paths));
  const cost::ProfileStore store(
      std::vector<std::filesystem::path>(profiles.begin(), profiles.end()));
  if (network) {
    ASSIGN_OR_RETURN(view::Doc doc,
                     report::NetworkComparisonDoc(rows, store, data.threads));
    return WriteReport(std::move(doc), output);
  }
  ASSIGN_OR_RETURN(const auto own_device, FindOwn(data.paths, profiles));
  ASSIGN_OR_RETURN(
      const report::KernelAccuracy accuracy,
      report::EvaluateKernels(
          rows, store,
          {.part = part, .own_device = own_device, .threads = data.threads}));
  ASSIGN_OR_RETURN(const report::CollectiveAccuracy collectives,
                   JudgeCollectives(data.paths, profiles, platforms, part));
  return WriteReport(report::KernelAccuracyDoc(accuracy, rows, collectives),
                     output);
}

}  // namespace stepcast::cli
