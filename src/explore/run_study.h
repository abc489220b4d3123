// Predicts all rows of a study, on all cores, in several processes if need be.
#ifndef STEPCAST_EXPLORE_RUN_STUDY_H_
#define STEPCAST_EXPLORE_RUN_STUDY_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "explore/row.h"
#include "explore/study.h"

namespace stepcast::explore {

// Rows that are finished, kept in a directory: a study that was killed goes on
// where it was.

/// "journal-<key>-<process>.txt", one line per row: a checksum, the row's
/// number, the row. Lines are only ever appended; one that is cut off or
/// corrupted is ignored.
std::filesystem::path JournalPath(const std::filesystem::path& directory,
                                  std::string_view key, int process);

std::string JournalLine(int64_t number, const Row& row);

/// Writes the lines of one process, from any of its threads one at a time.
class JournalWriter {
 public:
  JournalWriter() = default;
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;
  ~JournalWriter();

  /// Makes the directory and the file where there are none.
  Status Open(const std::filesystem::path& path);
  /// The row is safe from the end of this process when it returns.
  Status Add(int64_t number, const Row& row);
  /// A line that only says that the process lives.
  Status Beat();

 private:
  Status Write(std::string_view line);

  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// Reads the journals of all processes, each as far as it goes by now.
class JournalReader {
 public:
  JournalReader(std::filesystem::path directory, std::string_view key)
      : directory_(std::move(directory)), key_(key) {}

  /// Calls `take(number, row)` for every whole line that was not read yet, and
  /// returns the bytes read so far of each process's journal.
  template <typename Take>
  std::map<int, uint64_t> ReadNew(const Take& take) {
    for (auto& [number, row] : TakeNew()) {
      take(number, std::move(row));
    }
    return offsets_;
  }

 private:
  std::vector<std::pair<int64_t, Row>> TakeNew();

  std::filesystem::path directory_;
  std::string key_;
  std::map<int, uint64_t> offsets_;
};

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
  /// Called with the number of finished rows and of all rows, from any thread
  /// but one at a time. False: stop.
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
