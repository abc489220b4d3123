// Turns a step's graph, the host's plan and the activities' times into tasks
// for the simulator.
//
//   host thread  |-- segment --|- call -|-- segment --|- sync ...    -|tail|
//                            '- launch ->                          ^
//   stream                                |gap| work |gap| work ---'
#ifndef STEPCAST_TIMELINE_LOWER_H_
#define STEPCAST_TIMELINE_LOWER_H_

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "ir/graph.h"
#include "sim/task_graph.h"
#include "timeline/host_plan.h"

namespace stepcast::timeline {

// How long each activity takes on its device and what keeps it from starting at
// once.

struct ActivityTime {
  Duration duration{};  // Of a matched collective: once all ranks have come.
  Duration launch{};    // From the start of the call to the earliest start.
  Duration gap{};       // After the work before it on its stream.
  Duration release{};   // For work without a call, from the rank's start.
};

/// `after` started when `before`, on another stream, ended or was about to:
/// both wanted the same units of the device, or a wait was not recorded. A
/// negative delay is a start in the last wave of `before`.
struct Contention {
  ir::ActivityId before{};
  ir::ActivityId after{};
  Duration delay{};
};

struct ActivityTimes {
  IdVector<ir::ActivityId, ActivityTime> activities;
  /// After the work that a stream waits for; one a StreamWait of the graph.
  std::vector<Duration> wait_delays;
  std::vector<Contention> contentions{};  // By `after`.
};

/// What the device adds to every activity; one set for a whole machine.
struct DeviceDelays {
  Duration launch{};
  Duration gap{};
  Duration stream_wait{};
};

/// The same delays for every activity.
ActivityTimes UniformTimes(const ir::GraphData& data,
                           const IdVector<ir::ActivityId, Duration>& durations,
                           const DeviceDelays& delays);

/// The kinds of dependencies between tasks.
enum class Wait : uint8_t {
  kLaunch,      // An activity for its call.
  kStreamWait,  // An activity for one on another stream.
  kHost,        // A call for an activity.
  kHandoff,     // A thread for another.
  kQueue,       // A call for a place in the launch queue.
  kContention,  // An activity for the units that another one holds.
};

/// What a task stands for.
struct TaskOrigin {
  enum class Kind : uint8_t {
    kStart,    // Of a thread's step; takes no time.
    kSegment,  // A segment of the host's plan.
    kReturn,   // The tail of a call after what it waited for.
    kActivity,
  };
  Kind kind = Kind::kStart;
  ir::RankId rank{};
  ir::ThreadId thread{};  // Of kStart, kSegment and kReturn.
  uint32_t segment = 0;   // Of kSegment and kReturn, in the thread's plan.
  ir::ActivityId activity{};
  uint32_t repeat = 0;
};

struct LowerOptions {
  /// The step is run so often, back to back on every lane.
  uint32_t repeats = 1;
  /// A recorded step as one of many: what the step before left over is what
  /// this one leaves over, in the repeat before.
  bool steady = false;
  /// A stream takes so many activities before the next launch blocks; CUDA's is
  /// 1024 (the figure is of experiments, not of a specification).
  uint32_t launch_queue = 1024;
  /// Ranks start where they were measured to; otherwise all at once.
  bool rank_offsets = true;
  /// A call returns when its activities are done, as on a processor, which runs
  /// them itself.
  bool synchronous = false;
};

struct Lowered {
  sim::TaskGraph tasks;
  IdVector<sim::TaskId, TaskOrigin> origins;
  /// Of each rank, the last task of its main thread (of its first thread, if
  /// no one is main) in each repeat; [repeat][rank].
  std::vector<IdVector<ir::RankId, sim::TaskId>> rank_ends;
  /// The tasks of the activities in the last repeat.
  IdVector<ir::ActivityId, sim::TaskId> activity_tasks;
  IdVector<ir::RankId, Duration> rank_starts;
  uint32_t lanes_of_threads = 0;  // Lanes are the threads, then the streams.
  /// What the step before left over (LeftOvers), if this one is steady.
  IdVector<ir::ActivityId, ir::ActivityId> left_overs;
  /// Over so many of the last repeats the length of a recorded step is taken;
  /// 0: this is not one in its steady state.
  uint32_t steady_repeats = 0;
};

/// What the step before left over on its streams: the activities without a call
/// before the first that the step launched itself. Each with the activity of
/// this step that is its like one step later, by name and order from the end;
/// all others are invalid.
IdVector<ir::ActivityId, ir::ActivityId> LeftOvers(const ir::GraphData& data);

/// Fails where collectives of the ranks can never complete.
Result<Lowered> Lower(const ir::Graph& graph, const HostPlan& plan,
                      const ActivityTimes& times, const LowerOptions& options);

}  // namespace stepcast::timeline

#endif  // STEPCAST_TIMELINE_LOWER_H_
