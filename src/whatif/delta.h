// How sure the difference between two steps is: both are drawn again and again
// with the same luck.
#ifndef STEPCAST_WHATIF_DELTA_H_
#define STEPCAST_WHATIF_DELTA_H_

#include "base/units.h"
#include "engine/predict.h"
#include "whatif/case.h"

namespace stepcast::whatif {

/// After less before; negative where the change helps.
struct Delta {
  Duration step{};
  Duration p10{};
  Duration p50{};
  Duration p90{};
  /// What the drawn steps' deciles differ by.
  engine::StepInterval shift{};
};

/// Draws errors of models, shapes and hosts that both steps share, so that what
/// they have in common falls out: the difference of a step to itself is exactly
/// 0, and so is its interval.
Delta DeltaOf(const Case& before, const Case& after);

}  // namespace stepcast::whatif

#endif  // STEPCAST_WHATIF_DELTA_H_
