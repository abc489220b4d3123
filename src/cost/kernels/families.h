// What the families of kernels take: one list, a source each.
#ifndef STEPCAST_COST_KERNELS_FAMILIES_H_
#define STEPCAST_COST_KERNELS_FAMILIES_H_

#include "cost/kernels/family.h"

namespace stepcast::cost {

// Matrix products: tiles, waves of them, and what they read.
Base GemmBase(const ir::KernelShape& shape, const Machine& machine);
void GemmFeatures(const ir::KernelShape& shape, const Machine& machine,
                  const Base& base, FeatureVector& features);

// The fused pairwise interaction of DLRM, and fused attention: products whose
// results never leave the chip.
/// Reads a sample's vectors, multiplies each with each and writes one half of
/// the results after the first vector. Backward reads and writes the vectors
/// and multiplies twice.
Base InteractionBase(const ir::KernelShape& shape, const Machine& machine);

/// Two products of queries, keys and values; five in the backward, which works
/// the first one out again.
Base AttentionBase(const ir::KernelShape& shape, const Machine& machine);

// Elementwise kernels: streams in and out, and some arithmetic an element.
Base ElementwiseBase(const ir::KernelShape& shape, const Machine& machine);
void ElementwiseFeatures(const ir::KernelShape& shape, const Machine& machine,
                         const Base& base, FeatureVector& features);

// Sums, means, norms and arg-max over many elements.
Base ReductionBase(const ir::KernelShape& shape, const Machine& machine);
void ReductionFeatures(const ir::KernelShape& shape, const Machine& machine,
                       const Base& base, FeatureVector& features);

// Softmax: short rows by one warp in one pass, long rows by a block in three.
Base SoftmaxBase(const ir::KernelShape& shape, const Machine& machine);
void SoftmaxFeatures(const ir::KernelShape& shape, const Machine& machine,
                     const Base& base, FeatureVector& features);

// Layer, group and batch normalisation, forward and backward.
Base NormalizationBase(const ir::KernelShape& shape, const Machine& machine);
void NormalizationFeatures(const ir::KernelShape& shape, const Machine& machine,
                           const Base& base, FeatureVector& features);

// 2-D convolutions: the best of implicit GEMM and Winograd's algorithms.
Base ConvolutionBase(const ir::KernelShape& shape, const Machine& machine);
void ConvolutionFeatures(const ir::KernelShape& shape, const Machine& machine,
                         const Base& base, FeatureVector& features);

// Max and average pooling.
Base PoolingBase(const ir::KernelShape& shape, const Machine& machine);

// Concatenation and splitting: one kernel over several tensors.
Base ConcatBase(const ir::KernelShape& shape, const Machine& machine);
void ConcatFeatures(const ir::KernelShape& shape, const Machine& machine,
                    const Base& base, FeatureVector& features);

// Copies that change the layout.
Base TransposeBase(const ir::KernelShape& shape, const Machine& machine);
void TransposeFeatures(const ir::KernelShape& shape, const Machine& machine,
                       const Base& base, FeatureVector& features);

// Gathers and scatters by an index tensor.
Base IndexBase(const ir::KernelShape& shape, const Machine& machine);
void IndexFeatures(const ir::KernelShape& shape, const Machine& machine,
                   const Base& base, FeatureVector& features);

// Sorts, searches for unique values, prefix sums and binary searches.
Base SortBase(const ir::KernelShape& shape, const Machine& machine);

// Memcpys: between host and device, on a device, between devices.
Base CopyBase(const ir::KernelShape& shape, const Machine& machine);
void CopyFeatures(const ir::KernelShape& shape, const Machine& machine,
                  const Base& base, FeatureVector& features);

// Writing one value.
Base FillBase(const ir::KernelShape& shape, const Machine& machine);
void FillFeatures(const ir::KernelShape& shape, const Machine& machine,
                  const Base& base, FeatureVector& features);

/// A memset of the driver: small ones take less than any kernel.
Base MemsetBase(const ir::Fill& fill, const Machine& machine);

// Optimizer updates: one tensor or many in one kernel.
Base OptimizerStepBase(const ir::KernelShape& shape, const Machine& machine);

// Random numbers.
Base RandomBase(const ir::KernelShape& shape, const Machine& machine);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_FAMILIES_H_
