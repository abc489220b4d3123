// A plan's step as the simulator has it.
#ifndef STEPCAST_PLAN_SIMULATE_PLAN_H_
#define STEPCAST_PLAN_SIMULATE_PLAN_H_

#include <functional>

#include "base/result.h"
#include "base/units.h"
#include "engine/predict_model.h"
#include "plan/plan.h"

namespace stepcast::plan {

struct Simulated {
  Duration step{};
  double hbm_bytes = 0;  // Of the fullest rank.
  bool fits = true;
};

/// Gives the step of a plan.
using Simulate = std::function<Result<Simulated>(const Plan& plan)>;

/// A simulator of plans for a request, whose deal of tables is left open, and
/// which outlives it.
Simulate MakeSimulator(const engine::Request& request, double capacity_bytes);

}  // namespace stepcast::plan

#endif  // STEPCAST_PLAN_SIMULATE_PLAN_H_
