#include "cli/data_options.h"

#include <fmt/format.h>

#include "api/input.h"

namespace stepcast::cli {

void AddDataOptions(OptionParser& parser, DataOptions& options,
                    std::string_view help) {
  parser.Add("--data", options.data, help);
  parser.Add("--threads", options.threads,
             "threads to use; default: one per core");
}

Result<Data> ReadDataOptions(const DataOptions& options,
                             std::string_view expected) {
  if (options.data.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("no --data given; expected {}", expected));
  }
  ASSIGN_OR_RETURN(const auto threads,
                   api::ParseNumber("--threads", options.threads, 1));
  return Data{.paths = {options.data.begin(), options.data.end()},
              .threads = static_cast<size_t>(threads.value_or(0))};
}

}  // namespace stepcast::cli
