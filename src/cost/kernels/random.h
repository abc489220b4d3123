// Random numbers.
#ifndef STEPCAST_COST_KERNELS_RANDOM_H_
#define STEPCAST_COST_KERNELS_RANDOM_H_

#include "cost/kernels/family.h"

namespace stepcast::cost {

Base RandomBase(const ir::KernelShape& shape, const Machine& machine);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_RANDOM_H_
