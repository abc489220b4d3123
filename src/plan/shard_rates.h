// What a part of a table costs in addition to the kernels that read and update
// its rows, by its ids, bags and columns: measured on the steps of made-up
// ranks.
#ifndef STEPCAST_PLAN_SHARD_RATES_H_
#define STEPCAST_PLAN_SHARD_RATES_H_

#include <cstdint>

#include "base/result.h"
#include "cost/collectives/collective_models.h"
#include "cost/kernel_models.h"
#include "cost/overheads/overhead_table.h"
#include "engine/run/price_activities.h"
#include "model/model.h"
#include "model/settings.h"
#include "plan/problem.h"

namespace stepcast::plan {

/// A job to plan for: a model, how it is run and on what. The parts live
/// elsewhere.
struct Job {
  const model::Model* model = nullptr;
  model::Settings settings{};  // With a batch, run by torchrec.
  const cost::KernelModels* kernels = nullptr;
  const cost::CollectiveModels* collectives = nullptr;  // Of several ranks.
  const cost::OverheadTable* overheads = nullptr;
  Ranks ranks{};
  double device_bytes = 0;
  engine::HostPricing host{};  // For tables that the host looks up.
};

/// A sum that grows with the numbers a part handles in a step.
struct Rates {
  double per_id = 0;
  double per_bag = 0;     // Tables times samples.
  double per_column = 0;  // Columns of its vectors times samples.

  double At(double ids, double bags, double columns) const {
    return per_id * ids + per_bag * bags + per_column * columns;
  }
};

struct ShardRates {
  Rates forward_us;
  Rates backward_us;
  Rates bytes;                       // Of buffers.
  double replicated_element_us = 0;  // Gradient and update of one number.
  HostRates host{};
  double lead_us = 0;   // Of a rank without tables: before its lookups,
  double other_us = 0;  // and after.
  double other_bytes = 0;
};

/// Builds steps of ranks that differ in one number, and takes differences.
Result<ShardRates> MeasureShardRates(const Job& job);

}  // namespace stepcast::plan

#endif  // STEPCAST_PLAN_SHARD_RATES_H_
