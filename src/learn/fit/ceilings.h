// What large kernels sustain on a GPU, from its own measurements.
#ifndef STEPCAST_LEARN_FIT_CEILINGS_H_
#define STEPCAST_LEARN_FIT_CEILINGS_H_

#include <cstdint>

#include "cost/machine.h"
#include "cost/profile.h"
#include "learn/measured/kernel_rows.h"

namespace stepcast::learn {

/// Sets the ceilings that the fit rows of this GPU tell, by the rules of
/// docs/models/devices.md. Needs the launch costs; `machine` is the device
/// without them.
void FitCeilings(const KernelRows& rows, uint16_t gpu,
                 const cost::Machine& machine, cost::Profile& profile);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_FIT_CEILINGS_H_
