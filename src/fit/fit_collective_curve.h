// From measured sizes to one smooth curve that never falls.
#ifndef STEPCAST_FIT_FIT_COLLECTIVE_CURVE_H_
#define STEPCAST_FIT_FIT_COLLECTIVE_CURVE_H_

#include "cost/collectives/curve.h"
#include "cost/collectives/formula.h"
#include "fit/collective_points.h"

namespace stepcast::fit {

/// The ramp that fits the points best, near the formula's where they leave it
/// open.
cost::Ramp FitRamp(const MeasuredCurve& curve, const cost::Ramp& formula);

/// That ramp, bent towards the points at every octave: protocols change with
/// the size, and a ramp does not know where.
cost::CollectiveCurve FitCurve(const MeasuredCurve& curve,
                               const cost::Ramp& formula);

/// Of a residual r, about r^2 where it is small and 2 |r| where it is large.
double SoftLoss(double residual);

}  // namespace stepcast::fit

#endif  // STEPCAST_FIT_FIT_COLLECTIVE_CURVE_H_
