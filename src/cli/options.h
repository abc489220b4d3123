// Command-line options that several commands share, and how they are parsed.
#ifndef STEPCAST_CLI_OPTIONS_H_
#define STEPCAST_CLI_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/option_parser.h"
#include "ingest/load.h"
#include "ingest/rules.h"

namespace stepcast::cli {

/// Which traces to read, and how.
struct InputOptions {
  std::vector<std::string> files;
  std::vector<std::string> rules;
  std::string rank;
  std::string threads;
};

void AddInputOptions(OptionParser& parser, InputOptions& options);

/// The traces, and the rules they were read with.
struct Input {
  ingest::Rules rules;
  ingest::Loaded loaded;
  size_t threads = 0;
};

/// Reads what the options name; with --rank, that rank alone.
/// `allow_duplicates` as in ingest::LoadOptions.
Result<Input> LoadInput(const InputOptions& options, bool allow_duplicates);

/// The value of an option that takes a whole number of at least `least`;
/// nothing if it was not given.
Result<std::optional<int64_t>> ParseNumber(std::string_view option,
                                           const std::string& text,
                                           int64_t least);

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_OPTIONS_H_
