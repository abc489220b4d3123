// Sums, means, norms and arg-max over many elements.
#ifndef STEPCAST_COST_KERNELS_REDUCTION_H_
#define STEPCAST_COST_KERNELS_REDUCTION_H_

#include "cost/kernels/family.h"

namespace stepcast::cost {

Base ReductionBase(const ir::KernelShape& shape, const Machine& machine);
void ReductionFeatures(const ir::KernelShape& shape, const Machine& machine,
                       const Base& base, FeatureVector& features);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_REDUCTION_H_
