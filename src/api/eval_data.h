// What those that judge share: --data.
#ifndef STEPCAST_API_EVAL_DATA_H_
#define STEPCAST_API_EVAL_DATA_H_

#include <filesystem>
#include <string_view>
#include <vector>

#include "api/ask.h"
#include "base/result.h"

namespace stepcast::api {

/// The argument; `help` says what the data is.
inline Argument DataArgument(std::string_view help) {
  return {.name = "data",
          .value = "FILE",
          .help = help,
          .kind = Argument::Kind::kWords};
}

/// The paths of --data; fails if there are none. `expected` says what the data
/// is: "CSV files or ...".
Result<std::vector<std::filesystem::path>> DataOf(
    const scenario::Question& question, std::string_view expected);

/// What measurements of kernels, collectives and steps come in.
inline constexpr std::string_view kCsvFiles =
    "CSV files or directories with them";

/// The words of verbs that judge: none but a report.
inline constexpr std::string_view kReportHelp =
    "a report that --json wrote, to rerun it";

}  // namespace stepcast::api

#endif  // STEPCAST_API_EVAL_DATA_H_
