// Lookups of eager PyTorch, forward and backward.
#ifndef STEPCAST_MODEL_FRAMEWORKS_EMBEDDINGS_H_
#define STEPCAST_MODEL_FRAMEWORKS_EMBEDDINGS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "model/frameworks/torch/torch.h"
#include "model/model.h"

namespace stepcast::model {

// FBGEMM's table-batched embeddings and what TorchRec does to ids before.

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

/// How eager models look their tables up.
enum class LookupStyle {
  kBatched,  // LookupFunction: one kernel over all tables, updates fused.
  kBags,     // One aten::embedding_bag a table, sparse gradients.
  kDense,    // The same, but gradients of all rows, which DDP can sum.
};

/// The lookups of a batch. The result's columns are those of all tables; with
/// bags, one tensor per table.
std::vector<Tensor> LookUp(Torch& torch, const Model& model, LookupStyle style,
                           const LookupOptions& options);

/// What the optimizer does to tables whose gradients are sparse tensors: inside
/// the optimizer's step of kBags.
void UpdateBags(Torch& torch, const Model& model, const LookupOptions& options);

}  // namespace stepcast::model

#endif  // STEPCAST_MODEL_FRAMEWORKS_EMBEDDINGS_H_
