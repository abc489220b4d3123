// The list of trace formats, recognised by content.
#ifndef STEPCAST_TRACE_READ_FORMATS_H_
#define STEPCAST_TRACE_READ_FORMATS_H_

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "base/diagnostics.h"
#include "base/files/file.h"
#include "base/result.h"
#include "ir/graph.h"
#include "trace/read/execution_trace.h"
#include "trace/read/profiler_trace.h"

namespace stepcast::trace {

/// What one file holds: exactly one of the three.
struct TraceFile {
  std::optional<ProfilerTrace> profiler;
  std::optional<ExecutionTrace> execution;
  std::optional<ir::Graph> graph;
};

struct TraceFormat {
  std::string_view name;         // "kineto"
  std::string_view description;  // One line for `stepcast list formats`.
  /// Whether a file that begins with `head` (up to kSniffBytes) is of this
  /// format.
  bool (*sniff)(std::string_view head) = nullptr;
  Result<TraceFile> (*read)(ByteSource& source,
                            Diagnostics& diagnostics) = nullptr;
};

inline constexpr size_t kSniffBytes = 65536;

/// In the order they are tried.
std::span<const TraceFormat> Formats();

/// Reads one trace file of any format. The path is in front of any error.
Result<TraceFile> ReadTrace(const std::filesystem::path& path,
                            Diagnostics& diagnostics);

/// The same from memory; `name` stands for the path.
Result<TraceFile> ReadTrace(std::string_view bytes, std::string_view name,
                            Diagnostics& diagnostics);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_READ_FORMATS_H_
