// 2-D convolutions: the best of implicit GEMM and Winograd's algorithms.
#ifndef STEPCAST_COST_KERNELS_CONVOLUTION_H_
#define STEPCAST_COST_KERNELS_CONVOLUTION_H_

#include "cost/kernels/family.h"

namespace stepcast::cost {

Base ConvolutionBase(const ir::KernelShape& shape, const Machine& machine);
void ConvolutionFeatures(const ir::KernelShape& shape, const Machine& machine,
                         const Base& base, FeatureVector& features);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_CONVOLUTION_H_
