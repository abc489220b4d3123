// Why a device stood idle before a work started.
#ifndef STEPCAST_ENGINE_IDLE_CAUSES_H_
#define STEPCAST_ENGINE_IDLE_CAUSES_H_

#include "base/units.h"
#include "engine/account.h"
#include "lower/lower.h"
#include "sim/simulate.h"

namespace stepcast::engine {

/// Adds the time [begin, end), in which nothing ran on the device, to its
/// causes. `next` is the work that ended it; invalid if the step ended first.
void AddIdle(const lower::Lowered& lowered, const sim::Schedule& schedule,
             sim::TaskId next, Duration begin, Duration end, IdleTime& idle);

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_IDLE_CAUSES_H_
