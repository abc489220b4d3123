// FBGEMM's table-batched embeddings and what TorchRec does to ids before.
#ifndef STEPCAST_WORKLOAD_IMPL_FBGEMM_H_
#define STEPCAST_WORKLOAD_IMPL_FBGEMM_H_

#include <cstdint>
#include <functional>

#include "workload/impl/torch.h"
#include "workload/model.h"

namespace stepcast::workload {

/// Ids and lengths in another order of their features.
/// `bags` are features times samples.
void PermuteIds(StepBuilder& step, int64_t bags, int64_t ids);

/// Lengths to offsets, ids and offsets to 64 bits.
void PrepareIds(StepBuilder& step, const ir::EmbeddingBag& bag);

/// fbgemm::split_embedding_codegen_lookup_<optimizer>_function, with the update
/// in its backward.
void LookUpSplit(Torch& torch, const ir::EmbeddingBag& bag,
                 Optimizer optimizer);

/// fbgemm::dense_embedding_codegen_lookup_function: tables on every rank, with
/// a gradient of all rows, `elements` numbers, which `reduce` sums over the
/// ranks.
void LookUpDense(Torch& torch, const ir::EmbeddingBag& bag, int64_t elements,
                 std::function<void()> reduce);

}  // namespace stepcast::workload

#endif  // STEPCAST_WORKLOAD_IMPL_FBGEMM_H_
