// Applies changes to a workload.
#ifndef STEPCAST_WHATIF_APPLY_H_
#define STEPCAST_WHATIF_APPLY_H_

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "engine/run/predict.h"
#include "scenario/resolve.h"
#include "whatif/case.h"
#include "whatif/change.h"

namespace stepcast::whatif {

// How certain the difference between two steps is: a Monte Carlo simulation of
// both with common random numbers.

/// After less before; negative where the change helps.
struct Delta {
  Duration step{};
  Duration p10{};
  Duration p50{};
  Duration p90{};
  /// The difference of the sampled steps' deciles.
  engine::StepInterval shift{};
};

/// Samples errors of models, shapes and hosts once for both steps, so that what
/// they have in common cancels out: the difference of a step to itself is
/// exactly 0, and so is its interval.
Delta DeltaOf(const Case& before, const Case& after);

/// How certain a step is by itself, by the same simulation.
engine::StepInterval IntervalOf(const Case& subject);

struct Changed {
  Case after;
  Delta delta;
  std::vector<std::string> notes;  // How changes were carried out.
  bool bound = false;              // The gain is at most what is reported.
};

/// Those that come last after the others; all else in the order given.
std::vector<const Change*> InOrder(std::span<const Change> changes);

/// Changes of the request come first, those of the step edit what comes out of
/// that, each kind in order. Fails with the reason where a change
/// does not apply.
Result<Changed> Apply(const Case& before, std::span<const Change> changes,
                      scenario::Resolver& resolver);

/// Whether the change is one of the request, for this workload.
bool OfRequest(const Case& subject, const Change& change);

/// Fails with the reason where the workload cannot be changed so.
Status CheckApplies(const Case& subject, const Change& change);

}  // namespace stepcast::whatif

#endif  // STEPCAST_WHATIF_APPLY_H_
