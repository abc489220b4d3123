// One thread's measured time cut into pieces, with when each ran.
#ifndef STEPCAST_TIMELINE_TIMED_PIECES_H_
#define STEPCAST_TIMELINE_TIMED_PIECES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"
#include "ir/graph.h"
#include "timeline/host_plan.h"

namespace stepcast::timeline {

struct TimedPiece {
  HostPiece piece;
  Duration begin{};
  Duration end{};  // With what it blocked.
};

/// A top-level op, or a call outside of all ops: pieces
/// [first_piece, last_piece], the first being the T1 before it.
struct TimedItem {
  ir::OpId op{};
  Duration start{};
  Duration end{};
  uint32_t first_piece = 0;
  uint32_t last_piece = 0;
};

struct TimedThread {
  std::vector<TimedPiece> pieces;
  std::vector<TimedItem> items;
  size_t unplaced = 0;  // Ops and calls without a measured start.
};

/// Cuts the time of `thread`. With `step`, the measured length of the rank's
/// step, the pieces fill it from zero; without, they begin with the first item.
TimedThread CutThread(const ir::GraphData& data,
                      const IdVector<ir::OpId, ir::OpId>& tops,
                      ir::ThreadId thread, std::optional<Duration> step);

}  // namespace stepcast::timeline

#endif  // STEPCAST_TIMELINE_TIMED_PIECES_H_
