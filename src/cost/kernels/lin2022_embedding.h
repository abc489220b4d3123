// The embedding formulas of Lin et al. (2022, 2024), to compare ours with.
#ifndef STEPCAST_COST_KERNELS_LIN2022_EMBEDDING_H_
#define STEPCAST_COST_KERNELS_LIN2022_EMBEDDING_H_

#include "cost/machine.h"
#include "ir/shape.h"

namespace stepcast::cost {

/// Every row from DRAM; in microseconds, like those below.
double Lin2022EmbeddingSimpleUs(const ir::EmbeddingBag& bag,
                                const Machine& machine);

/// A bag hits L2 if all its rows do, which are uniform and independent: the
/// formula of the published results. Table after table.
double Lin2022EmbeddingUs(const ir::EmbeddingBag& bag, const Machine& machine);

/// Rows hit L2 one by one, with the expected number of distinct rows; forward
/// only (a backward gets the formula before). Its curve of DRAM bandwidth over
/// size is left out: the rate is that of large transfers.
double Lin2024EmbeddingUs(const ir::EmbeddingBag& bag, const Machine& machine);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_LIN2022_EMBEDDING_H_
