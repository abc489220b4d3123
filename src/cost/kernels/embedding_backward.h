// The backward of lookups that sorts their ids first: the preparation, then one
// update a distinct row.
#ifndef STEPCAST_COST_KERNELS_EMBEDDING_BACKWARD_H_
#define STEPCAST_COST_KERNELS_EMBEDDING_BACKWARD_H_

#include "cost/kernels/bag_tables.h"
#include "cost/kernels/family.h"
#include "cost/machine.h"
#include "ir/shape.h"

namespace stepcast::cost {

/// The kernel that bag.part says, or all of them and the preparation.
Base SortedBackwardBase(const ir::EmbeddingBag& bag, const BagTables& tables,
                        const Machine& machine);

/// Microseconds to sort `keys` ids of 8 bytes, with 4 bytes each, by their
/// lowest `bits`: one pass over all of them for every 8 bits.
double RadixSortUs(double keys, double bits, const Machine& machine);

/// Microseconds of everything before the update: making ids unique over the
/// tables, sorting them, counting the lookups of each row, finding long runs.
double BagPreparationUs(const BagTables& tables, const Machine& machine);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_EMBEDDING_BACKWARD_H_
