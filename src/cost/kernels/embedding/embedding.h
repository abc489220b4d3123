// Lookups in embedding tables, forward and backward, from the traffic that the
// distribution of their ids makes.
#ifndef STEPCAST_COST_KERNELS_EMBEDDING_EMBEDDING_H_
#define STEPCAST_COST_KERNELS_EMBEDDING_EMBEDDING_H_

#include "cost/kernels/embedding/bag_tables.h"
#include "cost/kernels/family.h"
#include "cost/machine.h"
#include "ir/shape.h"

namespace stepcast::cost {

// The backward of lookups that sorts their ids first: the preparation, then one
// update a distinct row.

/// The kernel that bag.part says, or all of them and the preparation.
Base SortedBackwardBase(const ir::EmbeddingBag& bag, const BagTables& tables,
                        const Machine& machine);

/// Microseconds to sort `keys` ids of 8 bytes, with 4 bytes each, by their
/// lowest `bits`: one pass over all of them for every 8 bits.
double RadixSortUs(double keys, double bits, const Machine& machine);

/// Microseconds of everything before the update: making ids unique over the
/// tables, sorting them, counting the lookups of each row, finding long runs.
double BagPreparationUs(const BagTables& tables, const Machine& machine);

/// A lookup or a backward of it. A backward that is whole and sorts its ids has
/// its preparation with it: it is several kernels.
Base EmbeddingBase(const ir::KernelShape& shape, const Machine& machine);

/// Bytes of rows that a lookup moves.
struct RowTraffic {
  double dram = 0;  // Missed L2.
  double all = 0;   // Asked for.
  double host = 0;  // From host memory, over its link.
};
RowTraffic TrafficOf(const ir::EmbeddingBag& bag, const BagTables& tables,
                     const Machine& machine);

/// Microseconds until `bytes` have come from host memory, or have gone both
/// ways at once.
double HostReadUs(double bytes, const Machine& machine);
double HostUpdateUs(double bytes, const Machine& machine);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_EMBEDDING_EMBEDDING_H_
