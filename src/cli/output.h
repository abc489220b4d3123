// Where answers go: standard output, or files that are whole or not there.
#ifndef STEPCAST_CLI_OUTPUT_H_
#define STEPCAST_CLI_OUTPUT_H_

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stepcast::cli {

/// Writes to standard output at once. Fails if not all of it could be written;
/// the message is empty if the reader of a pipe has gone, which needs no words.
Status Print(std::string_view text);

/// What gives its output to a function, piece by piece.
using WritePieces =
    std::function<void(const std::function<void(std::string_view)>& sink)>;
/// The same of pieces, none of which is kept.
Status PrintPieces(const WritePieces& write);

/// One line on standard error, marked with the program's name. Nothing in the
/// message can break the line.
void Complain(std::string_view message);

/// Writes a file through a temporary one, so that it is never there in part;
/// "-" is standard output, and what is no plain file (a pipe, /dev/null) is
/// written directly.
Status WriteOutput(const std::filesystem::path& path, std::string_view bytes);

/// The same of pieces, for a plain file.
Status WriteOutputPieces(const std::filesystem::path& path,
                         const WritePieces& write);

/// Fails if `path` is one of the files or directories that are read.
Status CheckNotInput(const std::filesystem::path& path,
                     const std::vector<std::string>& inputs);

/// The bytes as one gzip member, the same every time.
Result<std::string> Gzip(std::string_view bytes);

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_OUTPUT_H_
