// Lookups of eager PyTorch, forward and backward.
#ifndef STEPCAST_WORKLOAD_IMPL_EMBEDDINGS_H_
#define STEPCAST_WORKLOAD_IMPL_EMBEDDINGS_H_

#include <vector>

#include "workload/impl/torch.h"
#include "workload/model.h"

namespace stepcast::workload {

/// How eager models look their tables up.
enum class LookupStyle {
  kBatched,  // LookupFunction: one kernel over all tables, updates fused.
  kBags,     // One aten::embedding_bag a table, sparse gradients.
  kDense,    // The same, but gradients of all rows, which DDP can sum.
};

/// The lookups of a batch. The result's columns are those of all tables; with
/// bags, one tensor a table.
std::vector<Tensor> LookUp(Torch& torch, const Model& model, LookupStyle style,
                           const LookupOptions& options);

/// What the optimizer does to tables whose gradients are sparse tensors: inside
/// the optimizer's step of kBags.
void UpdateBags(Torch& torch, const Model& model, const LookupOptions& options);

}  // namespace stepcast::workload

#endif  // STEPCAST_WORKLOAD_IMPL_EMBEDDINGS_H_
