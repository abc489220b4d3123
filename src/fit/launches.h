// What eager calls cost a benchmark, from its shortest kernels.
#ifndef STEPCAST_FIT_LAUNCHES_H_
#define STEPCAST_FIT_LAUNCHES_H_

#include <cstdint>

#include "cost/machine.h"
#include "cost/profile.h"
#include "measurements/kernel_rows.h"

namespace stepcast::fit {

/// Sets the launch cost of every op that has event-timed rows on this GPU:
/// the floor is the median of the tenth of the fit rows with the smallest
/// kernels, the lead a share of it that does not depend on the GPU.
void FitLaunches(const measurements::KernelRows& rows, uint16_t gpu,
                 const cost::Machine& machine, cost::Profile& profile);

/// Convolutions were measured on a host that slowed down: fits what the lead
/// grows by from the first row of a file to its last, on the fit part, with
/// `kernel_us` as the kernels' own times.
struct DriftInput {
  std::vector<double> kernel_us;
  std::vector<double> time_us;
  std::vector<double> place;
};
void FitDrift(const DriftInput& input, bool scale_is_free,
              cost::LaunchCost& launch);

}  // namespace stepcast::fit

#endif  // STEPCAST_FIT_LAUNCHES_H_
