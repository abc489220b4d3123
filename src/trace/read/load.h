// Loads what a user names: files, directories of ranks, archives, and the two
// files of one run together.
#ifndef STEPCAST_TRACE_READ_LOAD_H_
#define STEPCAST_TRACE_READ_LOAD_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "ir/graph.h"
#include "trace/classify/rules.h"
#include "trace/link/link.h"
#include "trace/link/pair.h"
#include "trace/read/execution_trace.h"

namespace stepcast::trace {

// The rank in a file's name.

/// From the ways people name traces: rank3.json, rank-3.json.gz, rank_3,
/// worker3_step_12.pt.trace.json, dlrm.3.et, dlrm_eg_3_plus.json, run/3.json.
/// Nothing if the name has none.
std::optional<int64_t> RankFromName(std::string_view path);

/// All there is of one rank: a profiler trace, an execution trace, both of the
/// same run (then paired), or a finished graph.
struct RankTrace {
  int64_t rank = 0;
  std::vector<std::string> paths;  // One or two, as found.
  std::optional<LinkedTrace> profiler;
  std::optional<ExecutionTrace> execution;
  std::optional<Pairing> pairing;
  std::optional<ir::Graph> graph;
  Diagnostics diagnostics;
};

struct Loaded {
  std::vector<RankTrace> ranks;  // By rank.
  Diagnostics diagnostics;       // About the set: missing ranks, ...
};

struct LoadOptions {
  size_t threads = 0;  // 0: one a core.
  /// Several files of the same kind and rank are kept side by side instead of
  /// refused: for looking at unrelated files in one go.
  bool allow_duplicates = false;
};

/// Each path is a trace file, an archive or a directory with one file (or a
/// pair) a rank. Ranks come from the files themselves, else from their names,
/// else from the order of names. Two files of the same kind and rank are an
/// error.
Result<Loaded> Load(std::span<const std::filesystem::path> paths,
                    const Rules& rules, const LoadOptions& options = {});

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_READ_LOAD_H_
