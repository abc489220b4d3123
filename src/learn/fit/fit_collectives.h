// From measured collectives to the constants of the formula and the curves of
// each system.
#ifndef STEPCAST_LEARN_FIT_FIT_COLLECTIVES_H_
#define STEPCAST_LEARN_FIT_FIT_COLLECTIVES_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/stats.h"
#include "cost/collectives/constants.h"
#include "cost/collectives/curve.h"
#include "cost/collectives/formula.h"
#include "hw/node.h"
#include "learn/fit/collective_points.h"
#include "learn/fit/fit_kernels.h"
#include "learn/measured/collective_rows.h"

namespace stepcast::learn {

// From measured sizes to one smooth curve that never falls.

/// The ramp that fits the points best, near the formula's where they leave it
/// open.
cost::Ramp FitRamp(const MeasuredCurve& curve, const cost::Ramp& formula);

/// That ramp, bent towards the points at every octave: protocols change with
/// the size, and a ramp does not know where.
cost::CollectiveCurve FitCurve(const MeasuredCurve& curve,
                               const cost::Ramp& formula);

/// Of a residual r, about r^2 where it is small and 2 |r| where it is large.
double SoftLoss(double residual);

struct CollectiveFit {
  /// What all systems share: fitted if there are rows of enough GPUs, otherwise
  /// as built in.
  cost::CollectiveConstants constants;
  bool constants_fitted = false;
  std::vector<cost::CollectiveProfile> profiles;  // By system.
};

/// Fits to all rows but those of the test part. The spread of the formula comes
/// from leaving out each GPU in turn.
Result<CollectiveFit> FitCollectives(const CollectiveRows& rows,
                                     std::span<const hw::Node> platforms,
                                     size_t threads);

/// collective_constants.toml, if they were fitted, and <gpu>/<system>.toml.
std::vector<ProfileFile> FilesOf(const CollectiveFit& fit,
                                 std::string_view provenance);

/// How well the formula predicts systems of a GPU that its constants never saw.
struct CollectiveLeaveOutLine {
  std::string system;
  std::string kind;
  bool over_network = false;
  std::string_view odd;  // Why nothing can be expected; empty if it can.
  ErrorSummary errors;
};
struct CollectiveLeaveOut {
  std::vector<CollectiveLeaveOutLine> lines;
  /// Of all systems, by kind, within a node and over networks; networks of odd
  /// systems are left out: their rates are not known.
  std::vector<CollectiveLeaveOutLine> totals;
  double log2_p10 = 0;
  double log2_p90 = 0;
};
Result<CollectiveLeaveOut> LeaveOutCollectives(
    const CollectiveRows& rows, std::span<const hw::Node> platforms,
    size_t threads);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_FIT_FIT_COLLECTIVES_H_
