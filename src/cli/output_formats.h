// The list of formats that can be written.
#ifndef STEPCAST_CLI_OUTPUT_FORMATS_H_
#define STEPCAST_CLI_OUTPUT_FORMATS_H_

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ir/graph.h"

namespace stepcast::cli {

/// What a format makes a file of.
struct OutputStep {
  const ir::Graph& graph;
  ir::RankId rank{};   // For formats with one file a rank.
  int64_t number = 0;  // Of the step in the trace.
};

struct OutputFormat {
  std::string_view name;         // As in --to.
  std::string_view extensions;   // ".graph .txt": that mean this format.
  std::string_view description;  // One line for `stepcast list formats`.
  bool one_rank = false;         // A file holds one rank.
  Result<std::string> (*write)(const OutputStep& step) = nullptr;
};

std::span<const OutputFormat> OutputFormats();

/// The format called `name` or, if that is empty, the one the extension of
/// `path` means; a trailing .gz is passed over.
Result<const OutputFormat*> FindOutputFormat(std::string_view name,
                                             const std::filesystem::path& path);

/// Whether `path` asks for gzip.
bool IsGzipPath(const std::filesystem::path& path);

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_OUTPUT_FORMATS_H_
