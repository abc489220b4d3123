// Finds the iterations in a linked trace.
#ifndef STEPCAST_INGEST_FIND_STEPS_H_
#define STEPCAST_INGEST_FIND_STEPS_H_

#include <cstdint>
#include <string_view>

#include "base/diagnostics.h"
#include "ingest/link.h"
#include "ingest/rules.h"

namespace stepcast::ingest {

/// Fills linked.steps: the profiler's own step ranges; without them, the time
/// from the end of one optimizer range to the end of the next; without those,
/// the whole trace as one step.
void FindSteps(LinkedTrace& linked, const Rules& rules,
               Diagnostics& diagnostics);

/// The number in "ProfilerStep#12", or -1.
int64_t StepNumberIn(std::string_view name);

}  // namespace stepcast::ingest

#endif  // STEPCAST_INGEST_FIND_STEPS_H_
