// What learned corrections of kernels that move bytes look at.
#ifndef STEPCAST_COST_KERNELS_STREAM_FEATURES_H_
#define STEPCAST_COST_KERNELS_STREAM_FEATURES_H_

#include "cost/kernels/family.h"

namespace stepcast::cost {

/// The size of a kernel against its SMs, L2 and latency: five numbers.
void AddStreamFeatures(double elements, double width, const Machine& machine,
                       const Base& base, FeatureVector& features);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_STREAM_FEATURES_H_
