// Collectives over the ranks of a job: who came late, and what they cost then.
#ifndef STEPCAST_REPORT_COLLECTIVE_FACTS_H_
#define STEPCAST_REPORT_COLLECTIVE_FACTS_H_

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "ir/graph.h"

namespace stepcast::report {

/// One collective that was matched across ranks and has times on all of them.
///
///   rank 0   [==============================]
///   rank 1                 [================]
///   rank 2                          [========]
///            |<--- start skew ----->|<- own ->|
struct CollectiveFacts {
  ir::CollectiveKind kind = ir::CollectiveKind::kUnknown;
  int64_t ranks = 0;      // Taking part.
  Bytes bytes{};          // The largest input of a rank; 0 if unknown.
  Duration start{};       // The first start, from the earliest step's start.
  Duration skew{};        // First start to last start.
  Duration own{};         // Last start to last end.
  Duration end_skew{};    // First end to last end: how well the clocks agree.
  int64_t last_rank = 0;  // That started last.
};

/// In order of their last start. The ranks' clocks are taken to agree.
std::vector<CollectiveFacts> FindCollectiveFacts(const ir::Graph& graph);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_COLLECTIVE_FACTS_H_
