// One thread's measured time cut into segments, with when each ran.
#ifndef STEPCAST_TIMELINE_TIMED_SEGMENTS_H_
#define STEPCAST_TIMELINE_TIMED_SEGMENTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"
#include "ir/graph.h"
#include "timeline/host_plan.h"

namespace stepcast::timeline {

struct TimedSegment {
  HostSegment segment;
  Duration begin{};
  Duration end{};  // With what it blocked.
};

/// A top-level op, or a call outside of all ops: segments
/// [first_segment, last_segment], the first being the T1 before it.
struct TimedItem {
  ir::OpId op{};
  Duration start{};
  Duration end{};
  uint32_t first_segment = 0;
  uint32_t last_segment = 0;
};

struct TimedThread {
  std::vector<TimedSegment> segments;
  std::vector<TimedItem> items;
  size_t unplaced = 0;  // Ops and calls without a measured start.
};

/// Cuts the time of `thread`. With `step`, the measured length of the rank's
/// step, the segments fill it from zero; without, they begin with the first
/// item.
TimedThread CutThread(const ir::GraphData& data,
                      const IdVector<ir::OpId, ir::OpId>& tops,
                      ir::ThreadId thread, std::optional<Duration> step);

}  // namespace stepcast::timeline

#endif  // STEPCAST_TIMELINE_TIMED_SEGMENTS_H_
