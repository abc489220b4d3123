// What a profiler trace holds: counts, times and windows.
#ifndef STEPCAST_TRACE_INSPECT_TRACE_FACTS_H_
#define STEPCAST_TRACE_INSPECT_TRACE_FACTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "trace/classify/classify_all.h"
#include "trace/link/link.h"

namespace stepcast::trace {

/// How the steps of a trace were distinguished.
enum class StepSource {
  kMarked,      // The profiler's own ranges: ProfilerStep#n.
  kStepEnd,     // A range that ends every step: Optimizer.step#SGD.step.
  kWholeTrace,  // No mark; the trace is taken as one step.
};

/// "marked", "step_end", "whole_trace".
std::string_view Name(StepSource source);

/// One step and what the device did in its window.
struct StepFacts {
  int64_t number = 0;
  Duration start{};  // From the start of the first step.
  Duration duration{};
  Duration busy{};  // Device busy inside the step's window.
};

/// Whether the "External id" of device events names the op they come from.
struct ExternalIds {
  bool is_correlation = false;  // It repeats the correlation: no op link.
  int64_t linked = 0;           // Device events whose id is that of an op.
};

/// Something counted under a name.
struct NamedCount {
  std::string name{};
  int64_t count = 0;
};

/// Of one profiler trace, all steps together.
struct TraceFacts {
  StepSource step_source = StepSource::kWholeTrace;
  std::string step_marker{};  // The name of the range, without a number.
  std::vector<StepFacts> steps{};

  int64_t ops = 0;
  int64_t ops_with_shapes = 0;
  int64_t annotations = 0;
  int64_t threads_with_ops = 0;
  int64_t runtime_calls = 0;
  int64_t kernels = 0;
  int64_t copies = 0;  // memcpy and memset.
  int64_t device_events() const { return kernels + copies; }
  int64_t streams = 0;
  int64_t sync_events = 0;
  int64_t orphans = 0;  // Device events without a launch in the file.

  /// First start to last end of device events.
  Duration span{};
  /// When at least one device event ran: the union of their intervals.
  Duration busy{};
  /// The same for collectives alone.
  Duration collective_busy{};

  ExternalIds external_ids{};
  std::vector<NamedCount> skipped{};  // Kinds of events that are not used.
};

TraceFacts FindTraceFacts(const LinkedTrace& linked,
                          const Classification& classified);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_INSPECT_TRACE_FACTS_H_
