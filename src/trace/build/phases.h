// The phase of a training step that each host event belongs to.
#ifndef STEPCAST_TRACE_BUILD_PHASES_H_
#define STEPCAST_TRACE_BUILD_PHASES_H_

#include <cstdint>
#include <vector>

#include "base/diagnostics.h"
#include "base/text/string_pool.h"
#include "ir/graph.h"
#include "trace/classify/rules.h"
#include "trace/link/link.h"

namespace stepcast::trace {

/// What the phase of an op depends on. Lists are in pre-order by thread.
struct PhaseInput {
  StringId name{};
  uint32_t thread = 0;
  uint32_t parent = 0xFFFFFFFF;  // Position in the list; that value: none.
  int64_t sequence = -1;
  bool is_op = true;
};

/// The host events of a linked trace, position by position.
std::vector<PhaseInput> PhaseInputs(const LinkedTrace& linked);

/// The phase that the innermost annotation or op with a rule names; without
/// one, backward on autograd's threads, and forward for ops that autograd has
/// numbered.
std::vector<ir::Phase> FindPhases(const std::vector<PhaseInput>& events,
                                  const StringPool& strings,
                                  const Rules& rules);

/// Counts ranges of a framework that hold ops without a phase.
void CountRangesWithoutPhase(const std::vector<PhaseInput>& events,
                             const StringPool& strings, const Rules& rules,
                             Diagnostics& diagnostics);

/// Whether most top-level ops of the thread belong to autograd's engine and the
/// rest have no number of autograd's, for every thread below `thread_count`. On
/// a processor, and where autograd may not use threads of its own, both passes
/// run on the main thread, which then is none of autograd's.
std::vector<bool> FindAutogradThreads(const std::vector<PhaseInput>& events,
                                      const StringPool& strings,
                                      const Rules& rules,
                                      uint32_t thread_count);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_BUILD_PHASES_H_
