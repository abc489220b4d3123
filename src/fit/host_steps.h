// What a processor takes around the operators it runs, from whole steps: what
// is left of their times when the operators are priced.
#ifndef STEPCAST_FIT_HOST_STEPS_H_
#define STEPCAST_FIT_HOST_STEPS_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "cost/kernel_models.h"
#include "cost/overheads/overhead_table.h"
#include "ir/graph.h"

namespace stepcast::fit {

/// One step that was timed without a profiler.
struct HostStep {
  std::string name;
  double measured_us = 0;
  double works_us = 0;  // Of its operators, as priced.
  size_t ops = 0;       // Top-level ops: each has a gap before it.
};

/// Prices the works of a recorded step.
HostStep PriceStep(const ir::Graph& graph, const cost::KernelModels& models);

/// Microseconds a gap: the number that makes the steps' relative errors least
/// in the sense of squares; never negative. 0 without steps.
double FitGap(std::span<const HostStep> steps);

/// A table in which every gap takes so long and nothing else takes any time:
/// operators are priced with all that they call.
cost::OverheadData GapTable(std::span<const HostStep> steps, double gap_us,
                            std::vector<std::string> provenance);

}  // namespace stepcast::fit

#endif  // STEPCAST_FIT_HOST_STEPS_H_
