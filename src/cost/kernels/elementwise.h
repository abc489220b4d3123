// Elementwise kernels: streams in and out, and some arithmetic an element.
#ifndef STEPCAST_COST_KERNELS_ELEMENTWISE_H_
#define STEPCAST_COST_KERNELS_ELEMENTWISE_H_

#include "cost/kernels/family.h"

namespace stepcast::cost {

Base ElementwiseBase(const ir::KernelShape& shape, const Machine& machine);
void ElementwiseFeatures(const ir::KernelShape& shape, const Machine& machine,
                         const Base& base, FeatureVector& features);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_ELEMENTWISE_H_
