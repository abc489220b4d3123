// Where answers go: standard output, or files that are whole or not there.
#ifndef STEPCAST_CLI_OUTPUT_H_
#define STEPCAST_CLI_OUTPUT_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace stepcast::cli {

// The list of formats that can be written.

/// What a format makes a file of.
struct OutputStep {
  const ir::Graph& graph;
  ir::RankId rank{};   // For formats with one file per rank.
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

// Files that a command writes along with its report: --perfetto, --html.

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

/// Writes to standard output at once. Fails if not all of it could be written;
/// the message is empty if the reader of a pipe has gone, which needs no words.
Status Print(std::string_view text);

/// A writer that passes its output to a function, chunk by chunk.
using WriteChunks =
    std::function<void(const std::function<void(std::string_view)>& sink)>;
/// The same for output in chunks, none of which is kept.
Status PrintChunks(const WriteChunks& write);

/// One line on standard error, marked with the program's name. Nothing in the
/// message can break the line.
void Complain(std::string_view message);

/// Writes a file through a temporary one, so that it is never there in part;
/// "-" is standard output, and anything but a regular file (a pipe,
/// /dev/null) is written directly.
Status WriteOutput(const std::filesystem::path& path, std::string_view bytes);

/// The same for output in chunks, for a regular file.
Status WriteOutputChunks(const std::filesystem::path& path,
                         const WriteChunks& write);

/// Fails if `path` is one of the files or directories that are read.
Status CheckNotInput(const std::filesystem::path& path,
                     const std::vector<std::string>& inputs);

/// The bytes as one gzip member, the same every time.
Result<std::string> Gzip(std::string_view bytes);

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_OUTPUT_H_
