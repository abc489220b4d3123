// Copies that change the layout.
#ifndef STEPCAST_COST_KERNELS_TRANSPOSE_H_
#define STEPCAST_COST_KERNELS_TRANSPOSE_H_

#include "cost/kernels/family.h"

namespace stepcast::cost {

Base TransposeBase(const ir::KernelShape& shape, const Machine& machine);
void TransposeFeatures(const ir::KernelShape& shape, const Machine& machine,
                       const Base& base, FeatureVector& features);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_TRANSPOSE_H_
