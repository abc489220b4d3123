// The fused pairwise interaction of DLRM, and fused attention: products whose
// results never leave the chip.
#ifndef STEPCAST_COST_KERNELS_INTERACTION_H_
#define STEPCAST_COST_KERNELS_INTERACTION_H_

#include "cost/kernels/family.h"

namespace stepcast::cost {

/// Reads a sample's vectors, multiplies each with each and writes one half of
/// the results behind the first vector. Backward reads and writes the vectors
/// and multiplies twice.
Base InteractionBase(const ir::KernelShape& shape, const Machine& machine);

/// Two products of queries, keys and values; five in the backward, which works
/// the first one out again.
Base AttentionBase(const ir::KernelShape& shape, const Machine& machine);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_INTERACTION_H_
