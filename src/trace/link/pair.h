// Finds in a profiler trace the iterations that an execution trace describes.
#ifndef STEPCAST_TRACE_LINK_PAIR_H_
#define STEPCAST_TRACE_LINK_PAIR_H_

#include <cstdint>
#include <vector>

#include "base/diagnostics.h"
#include "trace/classify/rules.h"
#include "trace/link/link.h"
#include "trace/read/execution_trace.h"

namespace stepcast::trace {

/// How one thread of the execution trace was found.
struct PairedThread {
  int64_t execution_thread = 0;  // "tid" in the execution trace.
  uint32_t trace_thread = 0;     // Into ProfilerTrace::threads.
  int64_t nodes = 0;             // Of the execution trace on that thread.
  int64_t matches = 0;           // Exact occurrences in the profiler trace.
};

/// Ids of the two recorders agree only by accident; the order of names on a
/// thread is what links them. A thread of the execution trace matches where the
/// profiler's events repeat its names one by one, but for calls of an op by an
/// op of the same name, of which profilers leave out some, and for ranges that
/// no thread with ops has in the profiler trace.
struct Pairing {
  std::vector<PairedThread> threads;
  /// Of every host event: its node in the execution trace, or kNoEvent.
  std::vector<uint32_t> node_of;
  int64_t compared_shapes = 0;   // Pairs where both sides recorded shapes.
  int64_t different_shapes = 0;  // Of these, how many differ.
};

Pairing Pair(const LinkedTrace& linked, const ExecutionTrace& execution,
             const Rules& rules, Diagnostics& diagnostics);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_LINK_PAIR_H_
