// Gathers and scatters by an index tensor.
#ifndef STEPCAST_COST_KERNELS_INDEX_H_
#define STEPCAST_COST_KERNELS_INDEX_H_

#include "cost/kernels/family.h"

namespace stepcast::cost {

Base IndexBase(const ir::KernelShape& shape, const Machine& machine);
void IndexFeatures(const ir::KernelShape& shape, const Machine& machine,
                   const Base& base, FeatureVector& features);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_INDEX_H_
