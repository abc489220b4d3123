// Sorts, searches for unique values, prefix sums and binary searches.
#ifndef STEPCAST_COST_KERNELS_SORT_H_
#define STEPCAST_COST_KERNELS_SORT_H_

#include "cost/kernels/family.h"

namespace stepcast::cost {

Base SortBase(const ir::KernelShape& shape, const Machine& machine);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_SORT_H_
