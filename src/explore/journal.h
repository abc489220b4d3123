// Rows that are finished, kept in a directory: a study that was killed goes on
// where it was.
#ifndef STEPCAST_EXPLORE_JOURNAL_H_
#define STEPCAST_EXPLORE_JOURNAL_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "explore/row.h"

namespace stepcast::explore {

/// "journal-<key>-<process>.txt", a line a row: a checksum, the row's number,
/// the row. Lines are only ever added; one that was cut off, or that anything
/// happened to, is as if it were not there.
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

}  // namespace stepcast::explore

#endif  // STEPCAST_EXPLORE_JOURNAL_H_
