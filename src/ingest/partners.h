// Which op of the forward pass an op of the backward pass belongs to.
#ifndef STEPCAST_INGEST_PARTNERS_H_
#define STEPCAST_INGEST_PARTNERS_H_

#include <cstdint>
#include <vector>

#include "base/string_pool.h"
#include "ingest/phases.h"
#include "ingest/rules.h"
#include "ir/graph.h"

namespace stepcast::ingest {

/// Of every event: the position of the one of the other pass with the same
/// number of autograd's, or kNoEvent. `phases` has one entry an event.
///
/// FBGEMM's lookups often carry no number. Autograd counts its nodes, so theirs
/// is one less than that of the next op on the thread:
///
///   aten::zero_ 489 | lookup | aten::view 490      backward: SplitLookup 489
std::vector<uint32_t> FindPartners(const std::vector<PhaseInput>& events,
                                   const StringPool& strings,
                                   const std::vector<ir::Phase>& phases,
                                   const Rules& rules);

}  // namespace stepcast::ingest

#endif  // STEPCAST_INGEST_PARTNERS_H_
