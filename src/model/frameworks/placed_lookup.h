// Lookups in tables that are not in the GPU's memory.
#ifndef STEPCAST_MODEL_FRAMEWORKS_PLACED_LOOKUP_H_
#define STEPCAST_MODEL_FRAMEWORKS_PLACED_LOOKUP_H_

#include <cstdint>
#include <span>
#include <vector>

#include "model/frameworks/torch/torch.h"
#include "model/model.h"
#include "model/settings.h"

namespace stepcast::model {

/// The tables of each placement together, in the order of their first tables.
std::vector<std::vector<TableGroup>> ByPlacement(
    std::span<const TableGroup> tables);

/// Whether the host, here or elsewhere, looks the table up.
bool LookedUpByHost(const TableGroup& table);

/// What a cache of rows does before a lookup: finds the distinct rows of the
/// batch and which of them are missing, and makes room. The rows themselves
/// move in the lookup.
void FillCache(StepBuilder& step, const ir::EmbeddingBag& bag);

/// What a cache that the host fills does before a lookup in `tables`: finds
/// what is missing for `batch` samples, gathers it, copies it to the device and
/// takes as many rows back.
void FillCacheByHost(StepBuilder& step, std::span<const TableGroup> tables,
                     int64_t batch, uint64_t seed);

/// The host looks `tables` up for `batch` samples, at servers over the network
/// if they are remote, and copies the vectors; in the backward pass it takes
/// the gradients and updates the rows.
void LookUpOnHost(Torch& torch, std::span<const TableGroup> tables,
                  int64_t batch, Optimizer optimizer, uint64_t seed);

}  // namespace stepcast::model

#endif  // STEPCAST_MODEL_FRAMEWORKS_PLACED_LOOKUP_H_
