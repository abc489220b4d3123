// Layer, group and batch normalisation, forward and backward.
#ifndef STEPCAST_COST_KERNELS_NORMALIZATION_H_
#define STEPCAST_COST_KERNELS_NORMALIZATION_H_

#include "cost/kernels/family.h"

namespace stepcast::cost {

Base NormalizationBase(const ir::KernelShape& shape, const Machine& machine);
void NormalizationFeatures(const ir::KernelShape& shape, const Machine& machine,
                           const Base& base, FeatureVector& features);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_NORMALIZATION_H_
