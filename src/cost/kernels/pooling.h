// Max and average pooling.
#ifndef STEPCAST_COST_KERNELS_POOLING_H_
#define STEPCAST_COST_KERNELS_POOLING_H_

#include "cost/kernels/family.h"

namespace stepcast::cost {

Base PoolingBase(const ir::KernelShape& shape, const Machine& machine);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_POOLING_H_
