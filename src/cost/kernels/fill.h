// Writing one value.
#ifndef STEPCAST_COST_KERNELS_FILL_H_
#define STEPCAST_COST_KERNELS_FILL_H_

#include "cost/kernels/family.h"

namespace stepcast::cost {

Base FillBase(const ir::KernelShape& shape, const Machine& machine);
void FillFeatures(const ir::KernelShape& shape, const Machine& machine,
                  const Base& base, FeatureVector& features);

/// A memset of the driver: small ones take less than any kernel.
Base MemsetBase(const ir::Fill& fill, const Machine& machine);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_FILL_H_
