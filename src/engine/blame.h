// Who made the other ranks wait in a collective, and by what.
#ifndef STEPCAST_ENGINE_BLAME_H_
#define STEPCAST_ENGINE_BLAME_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "cost/overheads/host_plan.h"
#include "ir/graph.h"
#include "lower/lower.h"
#include "sim/simulate.h"

namespace stepcast::engine {

///   rank 0   [==============================]
///   rank 1                 [================]
///   rank 2                          [========]
///            |<--- start skew ----->|<- own ->|
struct CollectiveBlame {
  ir::CollectiveId id{};
  ir::CollectiveKind kind = ir::CollectiveKind::kUnknown;
  Duration start{};       // The first start.
  Duration start_skew{};  // First start to last start.
  Duration own{};         // Last start to last end.
  int64_t last_rank = 0;
  std::vector<int64_t> ranks{};   // Taking part.
  std::vector<Duration> waits{};  // Of each of them, for the last.
  /// Why the last rank came late, in one line; empty if it hardly did.
  std::string blame{};
};

/// In order of their last start.
std::vector<CollectiveBlame> BlameCollectives(const ir::Graph& graph,
                                              const cost::HostPlan& plan,
                                              const lower::Lowered& lowered,
                                              const sim::Schedule& schedule);

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_BLAME_H_
