// Who waits for whom in a step: recorded by the profiler, or inferred from the
// order of calls where it recorded nothing.
#ifndef STEPCAST_TRACE_BUILD_FIND_WAITS_H_
#define STEPCAST_TRACE_BUILD_FIND_WAITS_H_

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text/string_pool.h"
#include "ir/graph.h"
#include "ir/graph_builder.h"
#include "trace/build/phases.h"
#include "trace/classify/rules.h"
#include "trace/link/find_steps.h"
#include "trace/link/link.h"

namespace stepcast::trace {

// Which op of the forward pass an op of the backward pass belongs to.

/// Of every event: the position of the one of the other pass with the same
/// number of autograd's, or kNoEvent. `phases` has one entry per event.
///
/// FBGEMM's lookups often carry no number. Autograd counts its nodes, so theirs
/// is one less than that of the next op on the thread:
///
///   aten::zero_ 489 | lookup | aten::view 490      backward: SplitLookup 489
std::vector<uint32_t> FindPartners(const std::vector<PhaseInput>& events,
                                   const StringPool& strings,
                                   const std::vector<ir::Phase>& phases,
                                   const Rules& rules);

/// What a cuda_sync event says about the runtime call it belongs to.
struct SyncFact {
  int64_t stream = -1;          // Synchronised, or made to wait.
  int64_t wait_on_stream = -1;  // Waited for.
  uint32_t record_call = kNoEvent;
};

struct SyncFacts {
  std::unordered_map<uint32_t, SyncFact> of_call;  // By runtime event.
};

SyncFacts ReadSyncs(const LinkedTrace& linked);

/// Ids in the graph of what was added of a rank; invalid for the rest.
struct GraphIds {
  std::vector<ir::OpId> ops;               // By host event.
  std::vector<ir::CallId> calls;           // By runtime event.
  std::vector<ir::ActivityId> activities;  // By device event.
  std::map<std::pair<int64_t, int64_t>, ir::StreamId> streams{};
};

/// Adds host waits (syncs, copies that block inside the call) and stream waits
/// (an event recorded in one stream, waited for in another). `kinds` is by
/// runtime event.
void AddWaits(const LinkedTrace& linked, const StepWindow& window,
              const std::vector<ir::CallKind>& kinds, const SyncFacts& syncs,
              const GraphIds& ids, ir::GraphBuilder& builder);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_BUILD_FIND_WAITS_H_
