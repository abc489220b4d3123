// The trace files behind the paths a user gives.
#ifndef STEPCAST_INGEST_FIND_INPUTS_H_
#define STEPCAST_INGEST_FIND_INPUTS_H_

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace stepcast::ingest {

/// A file on disk, or a member of an archive already in memory.
struct TraceInput {
  std::string name;  // For messages: "run.tar.gz/rank0.json".
  std::filesystem::path path{};
  std::string bytes{};
  bool in_memory = false;
  bool listed = false;  // Found in a directory or archive, not named.
};

/// Directories are searched with their subfolders, archives (.tar, .tar.gz)
/// opened; found files come in the order of their names, hidden ones left out.
Result<std::vector<TraceInput>> FindInputs(
    std::span<const std::filesystem::path> paths);

}  // namespace stepcast::ingest

#endif  // STEPCAST_INGEST_FIND_INPUTS_H_
