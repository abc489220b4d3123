// Finds the iterations in a linked trace.
#ifndef STEPCAST_INGEST_FIND_STEPS_H_
#define STEPCAST_INGEST_FIND_STEPS_H_

#include "base/diagnostics.h"
#include "ingest/link.h"
#include "ingest/rules.h"

namespace stepcast::ingest {

/// Fills linked.steps: the profiler's own step ranges; without them, the time
/// from the end of one optimizer range to the end of the next; without those,
/// the whole trace as one step.
void FindSteps(LinkedTrace& linked, const Rules& rules,
               Diagnostics& diagnostics);

}  // namespace stepcast::ingest

#endif  // STEPCAST_INGEST_FIND_STEPS_H_
