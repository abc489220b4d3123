// What was measured so far, safe against being killed at any byte.
#ifndef STEPCAST_COLLECT_CUDA_JOURNAL_H_
#define STEPCAST_COLLECT_CUDA_JOURNAL_H_

#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "collect/cuda/table.h"

namespace stepcast::collect {

/// One line of the journal: cells without tabs or line ends.
///
///   start  settings            the sweep that --out has
///   run                        a process began
///   point  id at_s kind row    finished; without kind and row: left out
///   again  id at_s             what is known of it is not to be trusted
struct Entry {
  std::string type{};
  std::vector<std::string> cells{};
};

/// The whole lines of a text, each with a right checksum, and how many bytes
/// they take. Ends at the first line that is cut off or damaged.
struct WholeLines {
  std::vector<Entry> entries{};
  size_t bytes = 0;
};
WholeLines ReadEntries(const std::string& text);

/// The line of an entry, with its checksum and end.
std::string LineOf(const Entry& entry);

/// An append-only file that is the truth of a sweep: a point is done when its
/// line is there. The CSV files are made from it.
class Journal {
 public:
  /// Opens <out>/journal.tsv, made if need be; what a kill cut off is taken
  /// away. `wrong` says why there is no result.
  static std::unique_ptr<Journal> Open(const std::string& out,
                                       std::string& wrong);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Puts an entry on disk before it returns; false if the disk is full.
  bool Add(Entry entry);

  /// The settings of the sweep; empty before the first run.
  std::string Settings() const;
  /// Ids of points that need no second look: the last word counts.
  std::set<std::string> Done() const;
  /// Rows of these points, each once, in the order of measurement.
  std::vector<TableRow> Rows() const;
  /// Seconds that all runs took together.
  double SpentSeconds() const;

 private:
  Journal(std::FILE* file, std::vector<Entry> entries);

  std::FILE* file_;
  std::vector<Entry> entries_;
};

}  // namespace stepcast::collect

#endif  // STEPCAST_COLLECT_CUDA_JOURNAL_H_
