// What commands that work on measurements share: --data and --threads.
#ifndef STEPCAST_CLI_DATA_OPTIONS_H_
#define STEPCAST_CLI_DATA_OPTIONS_H_

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/option_parser.h"

namespace stepcast::cli {

/// As the user gives them.
struct DataOptions {
  std::vector<std::string> data;
  std::string threads;
};

/// The files, and how many threads; 0: one a core.
struct Data {
  std::vector<std::filesystem::path> paths;
  size_t threads = 0;
};

/// Declares them; `help` says what the data is.
void AddDataOptions(OptionParser& parser, DataOptions& options,
                    std::string_view help);

/// Checks them; `expected` says what the data is: "CSV files or ...".
Result<Data> ReadDataOptions(const DataOptions& options,
                             std::string_view expected);

/// What measurements of kernels, collectives and steps come in.
inline constexpr std::string_view kCsvFiles =
    "CSV files or directories with them";

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_DATA_OPTIONS_H_
