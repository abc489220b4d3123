// What large kernels sustain on a GPU, from its own measurements.
#ifndef STEPCAST_FIT_CEILINGS_H_
#define STEPCAST_FIT_CEILINGS_H_

#include <cstdint>

#include "cost/machine.h"
#include "cost/profile.h"
#include "measurements/kernel_rows.h"

namespace stepcast::fit {

/// Sets the ceilings that the fit rows of this GPU tell, by the rules of
/// docs/models/devices.md. Needs the launch costs; `machine` is the device
/// without them.
void FitCeilings(const measurements::KernelRows& rows, uint16_t gpu,
                 const cost::Machine& machine, cost::Profile& profile);

}  // namespace stepcast::fit

#endif  // STEPCAST_FIT_CEILINGS_H_
