// Predicts all rows of a study, on all cores, in several processes if need be.
#ifndef STEPCAST_EXPLORE_RUN_STUDY_H_
#define STEPCAST_EXPLORE_RUN_STUDY_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "explore/columns.h"
#include "explore/row.h"
#include "explore/study.h"

namespace stepcast::explore {

/// One of several processes that share the rows, as under mpirun.
struct Process {
  int number = 0;
  int count = 1;
};

struct RunOptions {
  size_t threads = 0;  // 0: one a core.
  /// Where finished rows are kept; empty: nowhere. Several processes need one
  /// that all of them see.
  std::filesystem::path directory{};
  std::string version{};  // Of the program: rows belong to it.
  /// Directories that `stepcast fit` wrote; rows belong to what they hold.
  std::vector<std::filesystem::path> profiles{};
  Process process{};
  /// The first process gives up when another has not been heard of for so long.
  std::chrono::milliseconds patience = std::chrono::minutes(1);
  /// Told of rows that are done, of those that are to be done, from any thread
  /// one at a time. False: stop.
  std::function<bool(int64_t done, int64_t all)> progress{};
};

/// What journals of the study are called by.
std::string JournalKey(const Study& study, const RunOptions& options);

/// All rows, in the study's order; of a process but the first, whose rows go to
/// its journal, none. Rows in journals are not predicted again. Fails if it was
/// stopped, a journal cannot be written, or another process is gone.
Result<std::vector<Row>> RunStudy(const Study& study,
                                  const RunOptions& options);

}  // namespace stepcast::explore

#endif  // STEPCAST_EXPLORE_RUN_STUDY_H_
