// stepcast fit: from measurements to a profile.
#include <array>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/nearest.h"
#include "base/parallel.h"
#include "base/text_table.h"
#include "cli/collective_commands.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/overhead_commands.h"
#include "cli/progress.h"
#include "cost/profile.h"
#include "fit/fit_kernels.h"
#include "fit/fit_shared.h"
#include "measurements/kernel_rows.h"

namespace stepcast::cli {
namespace {

using Align = TextTable::Align;
namespace fs = std::filesystem;

std::string SummaryText(const std::vector<fit::FittedProfile>& fitted) {
  TextTable table({Align::kLeft, Align::kLeft, Align::kLeft, Align::kLeft,
                   Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight});
  table.AddRow({"gpu", "family", "type", "chosen", "fit rows", "test rows",
                "GMAE%", "MAPE%", "formula%"});
  for (const fit::FittedProfile& profile : fitted) {
    for (const fit::FitSummary& row : profile.summaries) {
      table.AddRow({row.gpu, row.family, row.variant, row.chosen,
                    fmt::format("{}", row.fit_rows),
                    fmt::format("{}", row.model.n),
                    fmt::format("{:.2f}", row.model.gmae_pct),
                    fmt::format("{:.2f}", row.model.mape_pct),
                    fmt::format("{:.2f}", row.formula.gmae_pct)});
    }
  }
  return table.ToString();
}

Status WriteFiles(const std::vector<fit::ProfileFile>& files,
                  const fs::path& directory) {
  for (const fit::ProfileFile& file : files) {
    const fs::path path = directory / file.path;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) {
      return Fail(ErrorCode::kIo,
                  fmt::format("cannot make {}: {}", path.parent_path().string(),
                              error.message()));
    }
    RETURN_IF_ERROR(WriteOutput(path, file.text));
  }
  return {};
}

// What all GPUs share, for the fits that follow.
Result<cost::Constants> WriteShared(const measurements::KernelRows& rows,
                                    size_t threads, const fs::path& directory,
                                    const std::string& command) {
  ASSIGN_OR_RETURN(const fit::SharedFit shared, fit::FitShared(rows, threads));
  RETURN_IF_ERROR(WriteFiles(fit::FilesOf(shared, command), directory));
  return shared.constants;
}

Result<std::vector<fit::FittedProfile>> FitAll(
    const measurements::KernelRows& rows, const cost::Constants& constants,
    size_t threads, const std::string& command) {
  std::vector<Result<fit::FittedProfile>> results(
      rows.gpus.size(), Fail(ErrorCode::kUnsupported, "not fitted"));
  ParallelFor(rows.gpus.size(), threads, [&](size_t gpu) {
    results[gpu] =
        fit::FitProfile(rows, static_cast<uint16_t>(gpu), constants, command);
  });
  std::vector<fit::FittedProfile> fitted;
  for (auto& result : results) {
    ASSIGN_OR_RETURN(fit::FittedProfile profile, std::move(result));
    fitted.push_back(std::move(profile));
  }
  return fitted;
}

Status FitKernels(const Words& words) {
  OptionParser parser(
      "fit kernels",
      "Fits kernel models to measured times and writes a profile, which "
      "--profile DIR\nof other commands uses before what is built in.",
      "  stepcast fit kernels --data measured/ -o my_profile\n"
      "  stepcast eval kernels --data measured/ --part test --profile "
      "my_profile");
  std::vector<std::string> data;
  std::string output;
  std::string threads_text;
  parser.Add("--data", data, "CSV files, or directories with them");
  parser.Add("-o,--output", output, "the directory of the profile");
  parser.Add("--threads", threads_text,
             "how many to use; default: one per core");
  bool shared = false;
  parser.AddFlag(
      "--shared", shared,
      "first fit the constants that all GPUs share and how far formulas are "
      "off on GPUs without data, by leaving each out: constants.toml and "
      "spreads.toml; needs rows of three chips or more and some minutes");
  ASSIGN_OR_RETURN(const bool go_on, parser.Parse(words));
  if (!go_on) {
    return {};
  }
  if (data.empty() || output.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                data.empty() ? "no --data given; expected CSV files or "
                               "directories with them"
                             : "no -o given; expected a directory for the "
                               "profile");
  }
  ASSIGN_OR_RETURN(const auto threads_given,
                   ParseNumber("--threads", threads_text, 1));
  const auto threads = static_cast<size_t>(threads_given.value_or(0));
  const std::vector<fs::path> paths(data.begin(), data.end());
  std::vector<fit::FittedProfile> fitted;
  const std::string command = fmt::format("stepcast {} fit kernels", Version());
  {
    const Progress progress("fitting kernel models");
    ASSIGN_OR_RETURN(const measurements::KernelRows rows,
                     measurements::ReadKernelRows(paths));
    ASSIGN_OR_RETURN(cost::Constants constants,
                     cost::ProfileStore().LoadConstants());
    if (shared) {
      ASSIGN_OR_RETURN(
          constants, WriteShared(rows, threads, output, command + " --shared"));
    }
    ASSIGN_OR_RETURN(fitted, FitAll(rows, constants, threads, command));
    for (const fit::FittedProfile& profile : fitted) {
      RETURN_IF_ERROR(
          WriteFiles(fit::FilesOf(profile.profile, command), output));
    }
  }
  return Print(SummaryText(fitted));
}

}  // namespace

Status RunFit(const Words& words) {
  constexpr std::array<std::string_view, 3> kKinds = {"kernels", "overheads",
                                                      "collectives"};
  if (!words.empty() && words.front() == "kernels") {
    return FitKernels(Words(words.begin() + 1, words.end()));
  }
  if (!words.empty() && words.front() == "overheads") {
    return FitOverheads(Words(words.begin() + 1, words.end()));
  }
  if (!words.empty() && words.front() == "collectives") {
    return FitCollectives(Words(words.begin() + 1, words.end()));
  }
  if (words.empty() || words.front() == "--help" || words.front() == "-h") {
    return FitKernels({"--help"});
  }
  return Fail(ErrorCode::kInvalidInput,
              Unknown("kind of fit", words.front(), kKinds));
}

}  // namespace stepcast::cli
