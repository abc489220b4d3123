// Reading TOML files, with the file and line of everything that is wrong.
#ifndef STEPCAST_BASE_FILES_TOML_READ_H_
#define STEPCAST_BASE_FILES_TOML_READ_H_

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// toml++ is compiled once, in toml_read.cc, and without exceptions.
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace stepcast {

/// Parses a document; `source` is the file's name in messages.
Result<toml::table> ParseToml(std::string_view text, std::string_view source);

/// From here on `observer` is called with the source of every document that is
/// parsed; null: nothing is called. For tests that count. Several threads may
/// call it at once.
void ObserveToml(void (*observer)(std::string_view source));

/// Reads and parses a file.
Result<toml::table> LoadToml(const std::filesystem::path& path);

/// An error at the place of `node`: "rules.toml:12: message".
tl::unexpected<Error> FailAt(const toml::node& node, std::string_view message);

/// Fails at the first key of `table` that is not one of `known`.
Status CheckKeys(const toml::table& table,
                 std::span<const std::string_view> known);

/// A member that must be there and be a string that is not empty.
Result<std::string> GetString(const toml::table& table, std::string_view key);
/// A member that may be left out (then empty) but must be a string.
Result<std::string> GetOptionalString(const toml::table& table,
                                      std::string_view key);
/// A member that must be a list of one or more strings, none of them empty.
Result<std::vector<std::string>> GetStrings(const toml::table& table,
                                            std::string_view key);

}  // namespace stepcast

#endif  // STEPCAST_BASE_FILES_TOML_READ_H_
