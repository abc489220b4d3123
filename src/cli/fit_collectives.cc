// stepcast fit collectives: from measured collectives to constants and curves.
#include "fit/fit_collectives.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/text_table.h"
#include "cli/collective_commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cost/collectives/collective_store.h"
#include "hw/platform_files.h"
#include "measurements/collective_rows.h"
#include "report/collective_accuracy.h"

namespace stepcast::cli {
namespace {

namespace fs = std::filesystem;

Status WriteFiles(const fit::CollectiveFit& fitted, const fs::path& directory,
                  const std::string& command) {
  for (const fit::ProfileFile& file : fit::FilesOf(fitted, command)) {
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

}  // namespace

Result<std::vector<hw::Platform>> FindPlatforms(
    const std::vector<std::string>& texts) {
  std::vector<hw::Platform> platforms;
  for (const std::string& text : texts) {
    ASSIGN_OR_RETURN(hw::Platform platform, hw::FindPlatform(text));
    platforms.push_back(std::move(platform));
  }
  return platforms;
}

Status FitCollectives(const Words& words) {
  OptionParser parser(
      "fit collectives",
      "Fits models to measured collectives and writes a directory, which "
      "--profile DIR\nof other commands uses before what is built in. A tenth "
      "of the sizes is held\nback and judged by.",
      "  stepcast fit collectives --data measured/ -o my_collectives");
  std::vector<std::string> data;
  std::vector<std::string> platform_texts;
  std::string output;
  std::string threads_text;
  parser.Add("--data", data, "CSV files, or directories with them");
  parser.Add("--platform", platform_texts,
             "platform files whose 'collectives' name the systems "
             "of the data; built-in ones are known");
  parser.Add("-o,--output", output, "the directory to write");
  parser.Add("--threads", threads_text,
             "how many to use; default: one per core");
  ASSIGN_OR_RETURN(const bool go_on, parser.Parse(words));
  if (!go_on) {
    return {};
  }
  if (data.empty() || output.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                data.empty() ? "no --data given; expected CSV files or "
                               "directories with them"
                             : "no -o given; expected a directory to write");
  }
  ASSIGN_OR_RETURN(const auto threads,
                   ParseNumber("--threads", threads_text, 1));
  ASSIGN_OR_RETURN(const auto platforms, FindPlatforms(platform_texts));
  const std::vector<fs::path> paths(data.begin(), data.end());
  ASSIGN_OR_RETURN(const measurements::CollectiveRows rows,
                   measurements::ReadCollectiveRows(paths));
  if (rows.rows.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "no collectives in the data; expected CSV files with the "
                "columns gpu, system, collective, dtype, num_gpus, num_nodes, "
                "bytes and time_us");
  }
  const Progress progress("fitting collectives");
  ASSIGN_OR_RETURN(
      const fit::CollectiveFit fitted,
      fit::FitCollectives(rows, platforms,
                          static_cast<size_t>(threads.value_or(0))));
  RETURN_IF_ERROR(WriteFiles(
      fitted, output,
      fmt::format("Written by stepcast {} fit collectives.", Version())));
  ASSIGN_OR_RETURN(
      const report::CollectiveAccuracy accuracy,
      report::EvaluateCollectives(rows, cost::CollectiveStore({output}),
                                  platforms, measurements::Part::kTest));
  return Print("held-out sizes\n" + report::CollectiveAccuracyText(accuracy));
}

}  // namespace stepcast::cli
