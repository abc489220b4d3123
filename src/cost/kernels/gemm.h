// Matrix products: tiles, waves of them, and what they read.
#ifndef STEPCAST_COST_KERNELS_GEMM_H_
#define STEPCAST_COST_KERNELS_GEMM_H_

#include "cost/kernels/family.h"

namespace stepcast::cost {

Base GemmBase(const ir::KernelShape& shape, const Machine& machine);
void GemmFeatures(const ir::KernelShape& shape, const Machine& machine,
                  const Base& base, FeatureVector& features);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_GEMM_H_
