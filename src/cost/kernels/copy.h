// Memcpys: between host and device, on a device, between devices.
#ifndef STEPCAST_COST_KERNELS_COPY_H_
#define STEPCAST_COST_KERNELS_COPY_H_

#include "cost/kernels/family.h"

namespace stepcast::cost {

Base CopyBase(const ir::KernelShape& shape, const Machine& machine);
void CopyFeatures(const ir::KernelShape& shape, const Machine& machine,
                  const Base& base, FeatureVector& features);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_COPY_H_
