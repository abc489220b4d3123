// eval kernels: predicted kernels and collectives against measured ones.
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/ask.h"
#include "api/eval_data.h"
#include "api/workload.h"
#include "base/text/nearest.h"
#include "cost/collectives/collective_store.h"
#include "cost/profile.h"
#include "hw/cluster.h"
#include "learn/judge/collective_accuracy.h"
#include "learn/judge/kernel_accuracy.h"
#include "learn/measured/collective_rows.h"
#include "learn/measured/kernel_rows.h"
#include "view/reports/accuracy_doc.h"

namespace stepcast::api {
namespace {

using learn::Part;

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

Result<view::Doc> EvalWithoutGpus(
    const std::vector<std::filesystem::path>& paths, const Options& options) {
  options.ReportProgress("leaving out one GPU after another");
  ASSIGN_OR_RETURN(const learn::KernelRows rows, learn::ReadKernelRows(paths));
  ASSIGN_OR_RETURN(const learn::CollectiveRows collectives,
                   learn::ReadCollectiveRows(paths));
  if (!collectives.rows.empty() && rows.rows.empty()) {
    ASSIGN_OR_RETURN(
        const learn::CollectiveLeaveOut table,
        learn::LeaveOutCollectives(collectives, {}, options.threads));
    return view::CollectiveLeaveOutDoc(table);
  }
  ASSIGN_OR_RETURN(const learn::LeaveOutTable table,
                   learn::LeaveOneOut(rows, options.threads));
  return view::LeaveOutDoc(table);
}

// The collectives of the data, where it holds any.
Result<learn::CollectiveAccuracy> JudgeCollectives(
    const std::vector<std::filesystem::path>& paths,
    const std::vector<std::string>& profiles,
    const std::vector<std::string>& platform_texts, std::optional<Part> part) {
  ASSIGN_OR_RETURN(const learn::CollectiveRows rows,
                   learn::ReadCollectiveRows(paths));
  ASSIGN_OR_RETURN(const auto platforms, hw::FindPlatforms(platform_texts));
  const cost::CollectiveStore store(
      std::vector<std::filesystem::path>(profiles.begin(), profiles.end()));
  return learn::EvaluateCollectives(rows, store, platforms, part);
}

// A device that the measurements describe, or a profile made of them.
Result<std::optional<hw::Device>> FindOwn(
    std::vector<std::filesystem::path> directories,
    const std::vector<std::string>& profiles) {
  directories.insert(directories.end(), profiles.begin(), profiles.end());
  return FindOwnDevice(directories);
}

// Measured rows and what is predicted for them.
struct Judged {
  learn::KernelRows rows;
  learn::KernelAccuracy accuracy;
};

Result<Answer> JudgeKernels(const scenario::Question& question,
                            const std::vector<std::filesystem::path>& paths,
                            std::optional<Part> part, const Options& options) {
  options.ReportProgress("pricing measured kernels");
  const std::vector<std::string>& profiles = question.scenario.profile;
  const auto judged = std::make_shared<Judged>();
  ASSIGN_OR_RETURN(judged->rows, learn::ReadKernelRows(paths));
  const cost::ProfileStore store(
      std::vector<std::filesystem::path>(profiles.begin(), profiles.end()));
  ASSIGN_OR_RETURN(const auto own_device, FindOwn(paths, profiles));
  ASSIGN_OR_RETURN(judged->accuracy,
                   learn::EvaluateKernels(judged->rows, store,
                                          {.part = part,
                                           .own_device = own_device,
                                           .threads = options.threads}));
  ASSIGN_OR_RETURN(
      const learn::CollectiveAccuracy collectives,
      JudgeCollectives(paths, profiles, question.All("platform"), part));
  Answer answer{.doc = view::KernelAccuracyDoc(judged->accuracy, judged->rows,
                                               collectives)};
  answer.files.emplace("rows", [judged, part] {
    return learn::PricedRowsJson(judged->rows, judged->accuracy.priced, part);
  });
  return answer;
}

Result<Answer> AskEvalKernels(const scenario::Question& question,
                              const Options& options) {
  ASSIGN_OR_RETURN(const auto paths, DataOf(question, kCsvFiles));
  ASSIGN_OR_RETURN(
      const auto part,
      ParsePart(question.Has("part") ? question.One("part") : "all"));
  if (question.Has("leave-one-out")) {
    if (!question.scenario.profile.empty() || part) {
      return Fail(ErrorCode::kInvalidInput,
                  "--leave-one-out makes its own fits and judges by their test "
                  "rows: leave out --part and --profile");
    }
    ASSIGN_OR_RETURN(view::Doc doc, EvalWithoutGpus(paths, options));
    return Answer{.doc = std::move(doc)};
  }
  return JudgeKernels(question, paths, part, options);
}

}  // namespace

Verb EvalKernelsVerb() {
  return {
      .name = "eval kernels",
      .about =
          "Compares predicted kernel times with measured ones, by op, GPU "
          "and type.",
      .examples =
          "  stepcast eval kernels --data measured/gemm/v100-pcie-32gb.csv\n"
          "  stepcast eval kernels --data measured/ --part test --json\n"
          "  stepcast eval kernels --data measured/ --profile my_profile",
      .words = "REPORT",
      .words_help = kReportHelp,
      .page = "the report",
      .rows = "a row for each op, GPU and type",
      .takes =
          [](const scenario::Setting& setting) {
            return setting.name == "workload" || setting.name == "profile";
          },
      .arguments =
          {DataArgument("CSV files, or directories with them: columns gpu, "
                        "time_us, timing and those of a kernel"),
           {.name = "part",
            .value = "PART",
            .help = "all rows, or only the fit, validation or test part (by a "
                    "hash of the shape)"},
           {.name = "platform",
            .value = "FILE",
            .help = "platform files that name the systems of measured "
                    "collectives",
            .kind = Argument::Kind::kWords},
           {.name = "leave-one-out",
            .value = "",
            .help =
                "leave each GPU's chip out of every fit in turn and predict "
                "its test rows; takes some minutes and no --part or "
                "--profile",
            .kind = Argument::Kind::kFlag}},
      .files = {{.name = "rows",
                 .help = "write the rows with their parts, shapes and times, "
                         "measured and\nof our models, as JSON; .gz is "
                         "compressed",
                 .absent = "--leave-one-out has fits of its own; leave out "
                           "one of them"}},
      .ask = AskEvalKernels};
}

}  // namespace stepcast::api
