// Turns a step's graph, the host's plan and the works' times into tasks for the
// simulator.
//
//   host thread  |-- piece --|- call -|-- piece --|- sync ...    -|tail|
//                            '- launch ->                          ^
//   stream                                |gap| work |gap| work ---'
#ifndef STEPCAST_LOWER_LOWER_H_
#define STEPCAST_LOWER_LOWER_H_

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "cost/overheads/host_plan.h"
#include "ir/graph.h"
#include "lower/work_times.h"
#include "sim/task_graph.h"

namespace stepcast::lower {

/// The kinds of dependencies between tasks.
enum class Wait : uint8_t {
  kLaunch,      // A work for its call.
  kStreamWait,  // A work for one on another stream.
  kHost,        // A call for a work.
  kHandOver,    // A thread for another.
  kQueue,       // A call for a place in the launch queue.
  kContention,  // A work for the units that another one holds.
};

/// What a task stands for.
struct TaskOrigin {
  enum class Kind : uint8_t {
    kStart,   // Of a thread's step; takes no time.
    kPiece,   // A piece of the host's plan.
    kReturn,  // The tail of a call behind what it waited for.
    kWork,
  };
  Kind kind = Kind::kStart;
  ir::RankId rank{};
  ir::ThreadId thread{};  // Of kStart, kPiece and kReturn.
  uint32_t piece = 0;     // Of kPiece and kReturn, in the thread's plan.
  ir::WorkId work{};
  uint32_t repeat = 0;
};

struct LowerOptions {
  /// The step is run so often, back to back on every lane.
  uint32_t repeats = 1;
  /// A stream takes so many works before the next launch blocks; CUDA's is
  /// 1024 (the figure is of experiments, not of a specification).
  uint32_t launch_queue = 1024;
  /// Ranks start where they were measured to; otherwise all at once.
  bool rank_offsets = true;
  /// A call returns when its works are done, as on a processor, which runs them
  /// itself.
  bool synchronous = false;
};

struct Lowered {
  sim::TaskGraph tasks;
  IdVector<sim::TaskId, TaskOrigin> origins;
  /// Of each rank, the last task of its main thread (of its first thread, if
  /// no one is main) in each repeat; [repeat][rank].
  std::vector<IdVector<ir::RankId, sim::TaskId>> rank_ends;
  /// The tasks of the works in the last repeat.
  IdVector<ir::WorkId, sim::TaskId> work_tasks;
  IdVector<ir::RankId, Duration> rank_starts;
  uint32_t lanes_of_threads = 0;  // Lanes are the threads, then the streams.
};

/// Fails where collectives of the ranks can never meet.
Result<Lowered> Lower(const ir::Graph& graph, const cost::HostPlan& plan,
                      const WorkTimes& times, const LowerOptions& options);

}  // namespace stepcast::lower

#endif  // STEPCAST_LOWER_LOWER_H_
