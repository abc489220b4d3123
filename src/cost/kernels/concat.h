// Concatenation and splitting: one kernel over several tensors.
#ifndef STEPCAST_COST_KERNELS_CONCAT_H_
#define STEPCAST_COST_KERNELS_CONCAT_H_

#include "cost/kernels/family.h"

namespace stepcast::cost {

Base ConcatBase(const ir::KernelShape& shape, const Machine& machine);
void ConcatFeatures(const ir::KernelShape& shape, const Machine& machine,
                    const Base& base, FeatureVector& features);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_CONCAT_H_
