#include "cli/extra_file.h"

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

}  // namespace stepcast::cli
