#include "cli/extra_file.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "cli/output.h"
#include "cli/output_formats.h"

namespace stepcast::cli {

Status CheckExtraFile(std::string_view option, const std::string& path,
                      const std::vector<std::string>& inputs) {
  if (path == "-") {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} is '-'; expected a file, standard output has "
                            "the report",
                            option));
  }
  return path.empty() ? Status() : CheckNotInput(path, inputs);
}

Status WriteExtraFile(const std::string& path, std::string_view text) {
  if (!IsGzipPath(path)) {
    return WriteOutput(path, text);
  }
  ASSIGN_OR_RETURN(const std::string compressed, Gzip(text));
  return WriteOutput(path, compressed);
}

Status WriteExtraFiles(std::span<const ExtraFile> files) {
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i].path.empty()) {
      continue;
    }
    Status status = WriteExtraFile(files[i].path, files[i].text);
    if (status) {
      continue;
    }
    for (const ExtraFile& written : files.first(i)) {
      std::error_code error;
      // Not what was there for others to read from, as a pipe.
      if (std::filesystem::is_regular_file(written.path, error)) {
        std::filesystem::remove(written.path, error);
      }
    }
    return status;
  }
  return {};
}

}  // namespace stepcast::cli
