// stepcast sample: a trace and its model file to try the other commands on.
#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/files/embedded.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/option_parser.h"
#include "cli/output.h"
#include "cli/report_options.h"
#include "view/doc.h"
#include "view/reports/text_parts.h"

namespace stepcast {

std::span<const EmbeddedFile> SampleFileTexts();

}  // namespace stepcast

namespace stepcast::cli {
namespace {

namespace fs = std::filesystem;

struct SampleOptions {
  std::string directory;
  bool force = false;
  bool json = false;
};

// One file of the sample, in the order they are shown.
struct SampleFile {
  std::string_view embedded;  // Below data/.
  std::string_view what;
};

constexpr std::array kSampleFiles = {
    SampleFile{.embedded = "sample/trace.json.gz",
               .what = "five training steps in the profiler's format"},
    SampleFile{.embedded = "sample/model.toml",
               .what = "the model that they train"},
};

std::string_view BytesOf(const SampleFile& file) {
  const auto files = SampleFileTexts();
  const auto found =
      std::ranges::find(files, file.embedded, &EmbeddedFile::name);
  return found == files.end() ? std::string_view() : found->text;
}

fs::path PathOf(const SampleFile& file, const fs::path& directory) {
  return directory / fs::path(file.embedded).filename();
}

// Before anything is written.
Status CheckFree(const SampleOptions& options) {
  if (options.directory.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "no directory given; expected stepcast sample DIR");
  }
  std::error_code error;
  if (fs::exists(options.directory, error) &&
      !fs::is_directory(options.directory, error)) {
    return Fail(
        ErrorCode::kInvalidInput,
        fmt::format("{}: is a file; expected a directory", options.directory));
  }
  for (const SampleFile& file : kSampleFiles) {
    const fs::path path = PathOf(file, options.directory);
    if (!options.force && fs::exists(path, error)) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{}: exists already; expected another directory, "
                              "or --force to overwrite it",
                              path.string()));
    }
  }
  return {};
}

view::Doc SampleDoc(const fs::path& directory) {
  view::Table table{.key = "files",
                    .columns = {{.key = "path", .label = "file"},
                                {.key = "bytes"},
                                {.label = "size"},
                                {.key = "description", .label = "what it is"}}};
  for (const SampleFile& file : kSampleFiles) {
    const auto size = static_cast<int64_t>(BytesOf(file).size());
    table.rows.push_back({PathOf(file, directory).string(), size,
                          view::BytesText(Bytes{size}),
                          std::string(file.what)});
  }
  view::Doc doc;
  doc.title = fmt::format("wrote {} files", kSampleFiles.size());
  doc.verdict =
      "a small DLRM on one V100; made by a script, not recorded on a machine";
  doc.blocks.emplace_back(std::move(table));
  doc.blocks.emplace_back(view::Text{
      .text = fmt::format("next: stepcast doctor {}",
                          PathOf(kSampleFiles.front(), directory).string())});
  return doc;
}

Status WriteSample(const SampleOptions& options) {
  RETURN_IF_ERROR(CheckFree(options));
  std::error_code error;
  fs::create_directories(options.directory, error);
  if (error) {
    return Fail(ErrorCode::kIo,
                fmt::format("{}: cannot make the directory: {}",
                            options.directory, error.message()));
  }
  for (const SampleFile& file : kSampleFiles) {
    RETURN_IF_ERROR(
        WriteOutput(PathOf(file, options.directory), BytesOf(file)));
  }
  return PrintReport(SampleDoc(options.directory), {.json = options.json});
}

}  // namespace

Status RunSample(const Words& words) {
  OptionParser parser(
      "sample",
      "Writes a sample trace and the model file that belongs to it, to try "
      "the other\ncommands on. docs/tutorial.md leads through them.",
      "  stepcast sample demo\n"
      "  stepcast doctor demo/trace.json.gz\n"
      "  stepcast whatif demo/trace.json.gz --suggest");
  SampleOptions options;
  parser.Add("DIR", options.directory,
             "directory to write to; made if it is not there", "");
  parser.AddFlag("--force", options.force, "overwrite files that are there");
  parser.AddFlag("--json", options.json,
                 "print what was written as one JSON object");
  ASSIGN_OR_RETURN(const bool go_on, parser.Parse(words));
  return go_on ? WriteSample(options) : Status{};
}

}  // namespace stepcast::cli
