// Softmax: short rows by one warp in one pass, long rows by a block in three.
#ifndef STEPCAST_COST_KERNELS_SOFTMAX_H_
#define STEPCAST_COST_KERNELS_SOFTMAX_H_

#include "cost/kernels/family.h"

namespace stepcast::cost {

Base SoftmaxBase(const ir::KernelShape& shape, const Machine& machine);
void SoftmaxFeatures(const ir::KernelShape& shape, const Machine& machine,
                     const Base& base, FeatureVector& features);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_SOFTMAX_H_
