// What the host does in a step: each thread's time cut into segments at its
// top-level ops and at the calls of the device runtime.
//
//   thread  |--T1--|--T2--|T4|--T5--|T4|-T3-|--T1--|--no launch--|--T1--| ...
//                  '------- op, two calls --'      '- op, none --'
//
// A top-level op is an operator with only annotations around it. Blocking is in
// no segment: it comes out of the simulation.
#ifndef STEPCAST_TIMELINE_HOST_PLAN_H_
#define STEPCAST_TIMELINE_HOST_PLAN_H_

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "cost/overheads/overhead_table.h"
#include "ir/graph.h"

namespace stepcast::timeline {

struct HostSegment {
  cost::HostKind kind = cost::HostKind::kBetweenOps;
  /// The top-level op it is part of; for T1 the one that comes next (invalid
  /// where none does, or where a call outside of all ops comes next).
  ir::OpId op{};
  ir::CallId call{};    // Of kCall.
  Duration duration{};  // The host is busy so long.
  /// Of calls that wait for the device: from the end of what they wait for to
  /// their return. The call takes max(duration, until the device is done) +
  /// tail.
  Duration tail{};
  /// What the host waits for in it without a call that says so; the segment
  /// then takes as long as a call that waits.
  ir::ActivityId awaited{};
  /// How many ops and calls of the trace start in it: what the profiler spends
  /// on each is in `duration`.
  uint32_t events = 0;
};

/// The segment `to_segment` starts only `delay` after `from_segment` has ended.
struct Handoff {
  ir::ThreadId from{};
  uint32_t from_segment = 0;
  ir::ThreadId to{};
  uint32_t to_segment = 0;
  Duration delay{};
};

struct HostPlan {
  /// In the order they run. A thread has none if it does nothing.
  IdVector<ir::ThreadId, std::vector<HostSegment>> threads;
  std::vector<Handoff> handoffs;
  /// When a thread that nobody hands anything to starts its first segment, from
  /// the rank's start of the step.
  IdVector<ir::ThreadId, Duration> starts;
  size_t unplaced = 0;  // Ops and calls without a measured start, left out.
};

/// All ops or calls of one thread; they stand together.
template <typename IdType, typename Thing>
IdRange<IdType> OfThread(const IdVector<IdType, Thing>& things,
                         ir::ThreadId thread) {
  const auto first =
      std::ranges::lower_bound(things.items(), thread, {}, &Thing::thread);
  const auto last =
      std::ranges::upper_bound(things.items(), thread, {}, &Thing::thread);
  return {static_cast<uint32_t>(first - things.items().begin()),
          static_cast<uint32_t>(last - first)};
}

/// The top-level op around each op, itself included; invalid for annotations
/// that no op is around.
IdVector<ir::OpId, ir::OpId> TopLevelOps(const ir::GraphData& data);

/// The plan as it was measured. Every rank needs a measured step, every op and
/// call a measured start; what has none is left out and counted.
HostPlan MeasuredPlan(const ir::GraphData& data);

/// The same as it repeats in a loop: the host waits for activities where it
/// only seemed to be busy (silent_waits.h), so that it waits less if the device
/// is done sooner, and a thread that nobody hands anything to starts after what
/// the main thread had done by then.
HostPlan SteadyPlan(const ir::GraphData& data);

}  // namespace stepcast::timeline

#endif  // STEPCAST_TIMELINE_HOST_PLAN_H_
