// Optimizer updates: one tensor or many in one kernel.
#ifndef STEPCAST_COST_KERNELS_OPTIMIZER_STEP_H_
#define STEPCAST_COST_KERNELS_OPTIMIZER_STEP_H_

#include "cost/kernels/family.h"

namespace stepcast::cost {

Base OptimizerStepBase(const ir::KernelShape& shape, const Machine& machine);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_OPTIMIZER_STEP_H_
