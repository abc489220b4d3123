// A profiler trace as read: what ran when on host threads and device streams,
// before anything is linked or interpreted.
#ifndef STEPCAST_TRACE_READ_PROFILER_TRACE_H_
#define STEPCAST_TRACE_READ_PROFILER_TRACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/text/string_pool.h"
#include "base/units.h"

namespace stepcast::trace {

// What a trace file says about itself.

/// One device as the profiler describes it.
struct DeviceInfo {
  int64_t number = -1;
  std::string name;  // "Tesla V100-SXM2-32GB"
  int64_t sm_count = 0;
  std::string compute_capability;  // "7.0"
  int64_t memory_bytes = 0;
};

struct TraceInfo {
  std::string path;     // As given by the user.
  std::string format;   // Name in the list of formats: "kineto", "torch-et".
  std::string dialect;  // Kineto: "2021", "2022", "2024"; otherwise "".
  std::string schema;   // "1", "1.0.1", "1.1.1-chakra.0.0.4"
  std::optional<int64_t> rank;
  std::optional<int64_t> world_size;
  std::string backend;  // "nccl"
  std::vector<DeviceInfo> devices;
  /// Time 0 of the events is this far after the epoch.
  Duration base_time{};
  uint64_t text_bytes = 0;  // Uncompressed.
};

/// Recorded arguments of an op, as JSON text exactly as in the file: shapes
/// repeat in every layer and step, so each distinct text is stored once and
/// parsed when something asks (trace/read/arguments.h). Empty when not
/// recorded.
struct RawArguments {
  StringId dims = StringPool::kEmpty;     // [[16, 13], [256, 13], []]
  StringId types = StringPool::kEmpty;    // ["float", "float", "Int"]
  StringId values = StringPool::kEmpty;   // Concrete Inputs, ET inputs.
  StringId strides = StringPool::kEmpty;  // Input Strides.
  StringId out_dims = StringPool::kEmpty;
  StringId out_types = StringPool::kEmpty;
  StringId out_values = StringPool::kEmpty;
  /// The args object of an event that describes a collective ("Collective
  /// name", "In msg nelems", "In split size", ...).
  StringId collective = StringPool::kEmpty;
};

enum class HostEventKind : uint8_t { kOp, kAnnotation };

/// An operator or a named range on a host thread.
struct HostEvent {
  StringId name{};
  uint32_t thread = 0;  // Into ProfilerTrace::threads.
  Duration start{};
  Duration duration{};
  int64_t external_id = -1;
  int64_t event_index = -1;  // "Ev Idx": order of start over the thread.
  int64_t sequence = -1;
  int32_t arguments = -1;  // Into ProfilerTrace::arguments, distinct.
  HostEventKind kind = HostEventKind::kOp;
};

/// A call of the device runtime or driver.
struct RuntimeEvent {
  StringId name{};
  uint32_t thread = 0;
  Duration start{};
  Duration duration{};
  int64_t correlation = -1;
};

enum class DeviceEventKind : uint8_t { kKernel, kMemcpy, kMemset };

/// Something that ran on a stream of a device.
struct DeviceEvent {
  StringId name{};
  DeviceEventKind kind = DeviceEventKind::kKernel;
  int32_t device = 0;
  int64_t stream = 0;
  Duration start{};
  Duration duration{};
  int64_t correlation = -1;
  int64_t external_id = -1;
  int64_t bytes = -1;                        // Of copies and memsets.
  StringId grid = StringPool::kEmpty;        // "[32, 2, 1]"
  StringId block = StringPool::kEmpty;       // "[128, 1, 1]"
  StringId collective = StringPool::kEmpty;  // As in RawArguments.
};

/// A cuda_sync event: who waited for what, where the profiler records it.
struct SyncEvent {
  StringId kind{};  // "Event Sync", "Stream Wait Event", "Context Sync", ...
  Duration start{};
  Duration duration{};
  int64_t stream = -1;              // That waits; -1: the host.
  int64_t wait_on_stream = -1;      // That is waited for.
  int64_t record_correlation = -1;  // Of the cudaEventRecord waited for.
  int64_t correlation = -1;         // Of the runtime call.
};

/// A module's call, or a function of Python that is not PyTorch's own, where
/// stacks were recorded (with_stack). The others, nine of ten, are not kept.
struct PythonFrame {
  StringId name{};      // "Linear_0" of a module, "train.py(12): step".
  uint32_t thread = 0;  // Into ProfilerTrace::python_threads.
  bool is_module = false;
  Duration start{};
  Duration duration{};
};

struct HostThread {
  std::string process;  // As in the file: numbers or words.
  std::string thread;
  std::string name;  // From metadata: "thread 59811 (python3)".
};

/// Events of kinds that carry nothing the graph needs.
struct SkippedEvents {
  int64_t flows = 0;            // ph s/t/f
  int64_t metadata = 0;         // ph M
  int64_t instants = 0;         // ph i: memory samples and marks
  int64_t counters = 0;         // ph C
  int64_t python = 0;           // python_function, with those that are kept.
  int64_t gpu_annotations = 0;  // gpu_user_annotation
  int64_t other = 0;            // Any other complete event.
};

struct ProfilerTrace {
  TraceInfo info;
  StringPool strings;
  std::vector<HostThread> threads;
  std::vector<HostEvent> host_events;
  std::vector<RuntimeEvent> runtime_events;
  std::vector<DeviceEvent> device_events;
  std::vector<SyncEvent> sync_events;
  std::vector<PythonFrame> python_frames;
  std::vector<HostThread> python_threads;  // Of these; they may have no ops.
  std::vector<RawArguments> arguments;
  SkippedEvents skipped;
};

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_READ_PROFILER_TRACE_H_
