// Collectives that threads of the host run themselves, as gloo's.
#ifndef STEPCAST_TRACE_BUILD_HOST_COLLECTIVES_H_
#define STEPCAST_TRACE_BUILD_HOST_COLLECTIVES_H_

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "ir/shape.h"
#include "trace/classify/rules.h"
#include "trace/link/link.h"
#include "trace/read/load.h"

namespace stepcast::trace {

/// A collective of a trace without device work: a range on a thread without
/// ops, and the op that asked for it.
///
///   main         [c10d::allreduce_]      ...wait...
///   pt_gloo_runloop    [gloo:all_reduce         ]
///                ^ asked
struct HostCollective {
  uint32_t range = kNoEvent;  // Host events.
  uint32_t op = kNoEvent;
  Duration asked{};
  /// When it was asked for and its thread was free: that it was woken late is
  /// part of what the collective took.
  Duration start{};
  Duration end{};
  ir::Collective shape{};
};

/// A time in which the thread that asked did nothing until a collective was
/// over, and soon after which it went on.
struct HostPause {
  uint32_t thread = 0;
  uint32_t event = kNoEvent;  // The innermost host event around it.
  Duration start{};
  Duration end{};
  std::vector<uint32_t> collectives{};  // That ended in it, as positions.
};

struct HostCollectives {
  std::vector<HostCollective> list{};  // In the order they were asked for.
  std::vector<HostPause> pauses{};
};

/// None where there is device work: then they run next to it, not as part of
/// it.
HostCollectives FindHostCollectives(const RankTrace& rank, const Rules& rules);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_BUILD_HOST_COLLECTIVES_H_
