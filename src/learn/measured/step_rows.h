// Published step times of recommendation models, from CSV files.
#ifndef STEPCAST_LEARN_MEASURED_STEP_ROWS_H_
#define STEPCAST_LEARN_MEASURED_STEP_ROWS_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stepcast::learn {

/// One measured step, in the words of who published it.
struct StepRow {
  std::string id;
  int64_t num_gpus = 0;   // 0: CPUs alone.
  int64_t num_nodes = 1;  // 1 where the file has no such column.
  int64_t batch_per_gpu = 0;
  double step_time_ms = 0;
  /// All cells by the names of their columns: "implementation", "notes", ...
  std::map<std::string, std::string, std::less<>> words;
  std::string file;
  uint32_t line = 0;

  /// A cell; empty if the file has no such column.
  std::string_view Word(std::string_view column) const;
};

/// The columns that a file must have.
std::span<const std::string_view> StepColumns();

/// Reads the files. A missing column, a number that is none, a mode other than
/// train and infer, and an id that is there twice are errors with their place.
Result<std::vector<StepRow>> ReadStepRows(
    std::span<const std::filesystem::path> paths);

/// The same for one text, as if it were in the file `source`.
Status AddStepRows(std::string text, std::string source,
                   std::vector<StepRow>& rows);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_MEASURED_STEP_ROWS_H_
