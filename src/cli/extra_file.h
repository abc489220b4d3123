// Files that a command writes beside its report: --perfetto, --html.
#ifndef STEPCAST_CLI_EXTRA_FILE_H_
#define STEPCAST_CLI_EXTRA_FILE_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stepcast::cli {

/// Fails if the path of `option` is standard output, which has the report, or
/// one of the inputs. An empty path is none.
Status CheckExtraFile(std::string_view option, const std::string& path,
                      const std::vector<std::string>& inputs);

/// Writes it; compressed if the path ends in .gz.
Status WriteExtraFile(const std::string& path, std::string_view text);

/// A file to write; nothing if the path is empty.
struct ExtraFile {
  std::string path{};
  std::string text{};
};
/// Writes all of them or, if one cannot be written, leaves none.
Status WriteExtraFiles(std::span<const ExtraFile> files);

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_EXTRA_FILE_H_
