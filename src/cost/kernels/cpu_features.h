// What corrections learned on a processor look at. Its loops know no tiles and
// no waves: the numbers of the shape itself tell them apart.
#ifndef STEPCAST_COST_KERNELS_CPU_FEATURES_H_
#define STEPCAST_COST_KERNELS_CPU_FEATURES_H_

#include "cost/kernels/family.h"
#include "cost/machine.h"
#include "ir/shape.h"

namespace stepcast::cost {

/// The times of the formula, then the fields of the shape: sizes as log2(1 +
/// x), flags and kinds as numbers. Always as many for one family.
void CpuFeatures(const ir::KernelShape& shape, const Base& base,
                 FeatureVector& features);

/// The features of a family's shape on the machine: those of the family on
/// GPUs (none where it has none), those above on processors.
void FeaturesOn(const Family& family, const ir::KernelShape& shape,
                const Machine& machine, const Base& base,
                FeatureVector& features);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_CPU_FEATURES_H_
