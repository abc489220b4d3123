// The execution graph of one training step: what the host does, what it
// launches on the devices, and what waits for what, on one rank or many.
//
//   rank ── thread ── op ── (child ops) ── call ── activity ── stream
//                      └ tensors            │        └ shape
//                                           └ sync, event record, stream wait
//
// A Graph is immutable and verified; GraphBuilder makes it. Times are measured
// ones from a trace, on the rank's own clock with the step's start as zero;
// a graph from a model file or an execution trace has none.
#ifndef STEPCAST_IR_GRAPH_H_
#define STEPCAST_IR_GRAPH_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/text/string_pool.h"
#include "base/units.h"
#include "ir/shape.h"

namespace stepcast::ir {

struct RankTag {};
struct ThreadTag {};
struct StreamTag {};
struct OpTag {};
struct CallTag {};
struct ActivityTag {};
struct TensorTag {};
struct ShapeTag {};
struct CollectiveTag {};
using RankId = Id<RankTag>;
using ThreadId = Id<ThreadTag>;
using StreamId = Id<StreamTag>;
using OpId = Id<OpTag>;
using CallId = Id<CallTag>;
using ActivityId = Id<ActivityTag>;
using TensorId = Id<TensorTag>;
using ShapeId = Id<ShapeTag>;
using CollectiveId = Id<CollectiveTag>;

/// Times lie within this distance (31 years) of a step's start, so that sums
/// and differences of a few of them always fit.
inline constexpr Duration kMaxTime{1'000'000'000'000'000'000};

/// When something ran in the trace, from the start of the step. It may have
/// started before; some recorders keep durations only. The duration is not
/// negative.
struct Measured {
  std::optional<Duration> start{};
  Duration duration{};
  friend bool operator==(const Measured&, const Measured&) = default;
};

/// The start, where there is one.
inline std::optional<Duration> StartOf(
    const std::optional<Measured>& measured) {
  return measured ? measured->start : std::nullopt;
}

/// One process of the job, with its device.
struct Rank {
  int64_t number = 0;
  StringId gpu = StringPool::kEmpty;  // The device's name, as recorded.
  /// The step as the trace marks it. Its start is this rank's offset from the
  /// earliest rank's, where the ranks share a clock.
  std::optional<Measured> step{};
  friend bool operator==(const Rank&, const Rank&) = default;
};

enum class ThreadRole { kMain, kAutograd, kOther };

struct Thread {
  RankId rank{};
  ThreadRole role = ThreadRole::kOther;
  StringId name = StringPool::kEmpty;
  friend bool operator==(const Thread&, const Thread&) = default;
};

struct Stream {
  RankId rank{};
  int64_t device = 0;  // As recorded; most ranks drive one.
  int64_t number = 0;  // As recorded: 7, 20, ...; unique on the device.
  friend bool operator==(const Stream&, const Stream&) = default;
};

/// Which part of a training step an op belongs to.
enum class Phase {
  kUnknown,
  kDataLoading,
  kSparseDataDist,
  kForward,
  kBackward,
  kOptimizer
};

enum class OpKind {
  kOp,          // A framework operator.
  kAnnotation,  // A named range around operators.
};

/// What the operator computes, as far as its name says. Kernels carry the
/// numbers; this is for overheads and reports.
struct Op {
  StringId name = StringPool::kEmpty;
  OpKind kind = OpKind::kOp;
  ThreadId thread{};
  OpId parent{};  // Invalid at the top of its thread.
  Phase phase = Phase::kUnknown;
  int64_t sequence = -1;  // Autograd's number; forward and backward share it.
  IdRange<TensorId> inputs{};
  IdRange<TensorId> outputs{};
  std::optional<Measured> measured{};
  /// Where the recording has Python's stack: the modules around it, the
  /// outermost first ("DLRM_0/Linear_1"), and the innermost function that is
  /// not PyTorch's own ("train.py(12): step").
  StringId modules = StringPool::kEmpty;
  StringId site = StringPool::kEmpty;
  friend bool operator==(const Op&, const Op&) = default;
};

enum class Device { kUnknown, kCpu, kGpu };

/// An argument or result of an op. Tensors with the same storage share memory.
struct Tensor {
  std::vector<int64_t> dims{};
  DType dtype = DType::kUnknown;
  Device device = Device::kUnknown;
  int64_t storage = -1;  // Unique in the rank at that time; -1 if unknown.
  friend bool operator==(const Tensor&, const Tensor&) = default;
};

/// What a call of the device runtime does to the schedule.
enum class CallKind {
  kLaunch,       // A kernel, a copy or a memset is put into a stream.
  kGraphLaunch,  // A captured graph: one call, many activities.
  kDeviceSync,   // The host waits for the whole device.
  kStreamSync,   // ... for one stream.
  kEventSync,    // ... for an event.
  kEventRecord,  // Marks a point in a stream.
  kStreamWait,   // A stream will wait for an event.
  kOther,        // Allocation and other calls that can take long.
};

/// One call of the device runtime by an op (or by none, between ops).
struct Call {
  StringId name = StringPool::kEmpty;
  CallKind kind = CallKind::kLaunch;
  ThreadId thread{};
  OpId op{};          // The innermost op around it; may be invalid.
  StreamId stream{};  // That it syncs, records in or makes wait, if known.
  CallId event{};     // kStreamWait, kEventSync: the record it waits for.
  std::optional<Measured> measured{};
  friend bool operator==(const Call&, const Call&) = default;
};

enum class ActivityKind { kKernel, kMemcpy, kMemset, kCollective };

/// One kernel, copy, memset or collective on a stream.
struct Activity {
  StringId name = StringPool::kEmpty;
  ActivityKind kind = ActivityKind::kKernel;
  ShapeId shape{};
  StreamId stream{};
  CallId call{};              // That launched it; invalid for orphans.
  CollectiveId collective{};  // For kCollective, when matched over ranks.
  std::optional<Measured> measured{};
  friend bool operator==(const Activity&, const Activity&) = default;
};

/// `after` may start only when `before`, on another stream, is done. Recorded
/// by the trace or inferred from event calls.
struct StreamWait {
  ActivityId before{};
  ActivityId after{};
  bool inferred = false;
  friend bool operator==(const StreamWait&, const StreamWait&) = default;
};

/// The host goes on after `call` only when `before` is done.
struct HostWait {
  ActivityId before{};
  CallId call{};
  bool inferred = false;
  friend bool operator==(const HostWait&, const HostWait&) = default;
};

/// One collective over several ranks: an activity of each.
struct MatchedCollective {
  CollectiveKind kind = CollectiveKind::kUnknown;
  std::vector<ActivityId> activities{};  // In rank order.
  friend bool operator==(const MatchedCollective&,
                         const MatchedCollective&) = default;
};

/// The plain content of a graph; GraphBuilder fills it, Graph guards it.
///
/// Order, which GraphBuilder makes and Verify checks:
///   ranks        by number;
///   threads      by rank, role, name;
///   streams      by rank, device, number;
///   ops          by thread, in pre-order (an op, then all below it), siblings
///                by start;
///   calls        by thread, start;
///   activities   by stream, start;
///   tensors      by op, inputs before outputs;
///   collectives  by their first activity;
///   waits        by who waits, then for what; each once.
/// What has no time stays after the one added before it.
struct GraphData {
  StringPool strings;
  StringId source = StringPool::kEmpty;  // "kineto", "torch-et", "text", ...
  IdVector<RankId, Rank> ranks;
  IdVector<ThreadId, Thread> threads;
  IdVector<StreamId, Stream> streams;
  IdVector<OpId, Op> ops;
  IdVector<CallId, Call> calls;
  IdVector<ActivityId, Activity> activities;
  IdVector<TensorId, Tensor> tensors;
  IdVector<ShapeId, KernelShape> shapes;  // Distinct.
  IdVector<CollectiveId, MatchedCollective> collectives;
  std::vector<StreamWait> stream_waits;
  std::vector<HostWait> host_waits;
};

class Graph {
 public:
  /// Verifies `data` (ir/verify.h) and takes it.
  static Result<Graph> Make(GraphData data);

  // In graph.cc: the compiler need not make them again for every file.
  Graph(const Graph& other);
  Graph& operator=(const Graph& other);
  Graph(Graph&& other) noexcept;
  Graph& operator=(Graph&& other) noexcept;
  ~Graph();

  const GraphData& data() const { return data_; }
  /// Whether it is of a recording with times: there are ranks, and each has a
  /// measured step. Single ops, calls and activities may still lack a time.
  bool is_timed() const { return timed_; }
  std::string_view text(StringId id) const { return data_.strings.view(id); }
  const KernelShape& shape(ActivityId id) const {
    return data_.shapes[data_.activities[id].shape];
  }

 private:
  explicit Graph(GraphData data);

  GraphData data_;
  bool timed_ = false;
};

/// Equal content, whatever the string and shape ids.
bool SameContent(const Graph& a, const Graph& b);

// The waits of one call or activity among all of a graph's.

/// What the host waits for in a call.
inline std::span<const HostWait> WaitsOf(const GraphData& data, CallId call) {
  const auto [first, last] = std::equal_range(
      data.host_waits.begin(), data.host_waits.end(), HostWait{.call = call},
      [](const HostWait& a, const HostWait& b) { return a.call < b.call; });
  return {first, last};
}

/// What an activity waits for on other streams.
inline std::span<const StreamWait> WaitsOf(const GraphData& data,
                                           ActivityId after) {
  const auto [first, last] = std::equal_range(
      data.stream_waits.begin(), data.stream_waits.end(),
      StreamWait{.after = after}, [](const StreamWait& a, const StreamWait& b) {
        return a.after < b.after;
      });
  return {first, last};
}

}  // namespace stepcast::ir

#endif  // STEPCAST_IR_GRAPH_H_
