#include "plan/price_shards.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "engine/price_works.h"
#include "workload/build_graph.h"
#include "workload/embedding_stats.h"
#include "workload/impl/placed_lookup.h"
#include "workload/memory.h"
#include "workload/rank_plan.h"
#include "workload/shapes.h"

namespace stepcast::plan {
namespace {

// What one part is as a table of its rank.
workload::TableGroup PartOf(const workload::TableGroup& table,
                            const Option& option) {
  workload::TableGroup part = table;
  switch (option.sharding) {
    case Sharding::kTableWise:
    case Sharding::kDataParallel:
      break;
    case Sharding::kColumnWise:
      part.dim /= option.shards;
      break;
    case Sharding::kRowWise:
    case Sharding::kTableRowWise:
      part.rows = (part.rows + option.shards - 1) / option.shards;
      part.pooling /= option.shards;
      break;
  }
  return part;
}

// What a rank with these tables takes beside collectives, in each pass.
struct PassTimes {
  double forward_us = 0;
  double backward_us = 0;
};

PassTimes TimesWith(const Job& job, std::vector<workload::TableGroup> tables) {
  const workload::RankPlan plan{.world = job.ranks.count,
                                .local = std::move(tables),
                                .makers = job.ranks.count};
  const auto graph = workload::BuildRankGraph(*job.model, job.settings, plan);
  CHECK(graph.has_value()) << graph.error().message;
  const ir::GraphData& data = graph->data();
  const engine::PricedWorks prices =
      engine::PriceWorks(data, *job.kernels, nullptr, {.host = job.host});
  PassTimes times;
  for (const ir::WorkId id : data.works.ids()) {
    const ir::Work& work = data.works[id];
    if (!work.call.valid() || !data.calls[work.call].op.valid()) {
      continue;
    }
    const ir::Phase phase = data.ops[data.calls[work.call].op].phase;
    (phase == ir::Phase::kBackward ? times.backward_us : times.forward_us) +=
        prices.prices[id].p50_us;
  }
  return times;
}

}  // namespace

void ShardPricer::PriceByHost(const workload::TableGroup& part,
                              ShardLoad& load) const {
  const PassTimes with = TimesWith(job_, {part});
  const PassTimes without = TimesWith(job_, {});
  load.forward_us = std::max(0.0, with.forward_us - without.forward_us);
  load.backward_us = std::max(0.0, with.backward_us - without.backward_us);
}

ShardLoad ShardPricer::Price(const workload::TableGroup& table,
                             const Option& option) const {
  const bool copied = option.sharding == Sharding::kDataParallel;
  const workload::TableGroup part = PartOf(table, option);
  const int64_t samples = job_.settings.batch * (copied ? 1 : job_.ranks.count);
  const auto usual = std::max<int64_t>(
      1, workload::TableCount(*job_.model) / job_.ranks.count);

  // Forward and the two kernels of backward, of a usual number of such parts
  // and of twice as many.
  std::array<ir::KernelShape, 6> shapes;
  for (size_t i = 0; i < 2; ++i) {
    workload::TableGroup parts = part;
    parts.count = usual * static_cast<int64_t>(i + 1);
    ir::EmbeddingBag bag = workload::Lookup(
        {&parts, 1},
        {.batch = samples,
         .dtype = workload::TypesOf(job_.settings.precision).parameter,
         .alpha =
             workload::CommonAlpha({&parts, 1}, samples, job_.settings.seed)});
    shapes[3 * i] = bag;
    bag.pass = ir::Pass::kBackward;
    bag.update = copied ? ir::Update::kNone
                        : workload::UpdateOf(job_.model->table_optimizer);
    bag.part = ir::BagPart::kLongRuns;
    shapes[3 * i + 1] = bag;
    bag.part = ir::BagPart::kShortRuns;
    shapes[3 * i + 2] = bag;
  }
  std::array<std::optional<cost::Estimate>, 6> prices;
  job_.kernels->PriceAll(shapes, prices);
  const auto slope = [&](size_t kernel) {
    const double few = prices[kernel] ? prices[kernel]->p50_us : 0;
    const double many = prices[kernel + 3] ? prices[kernel + 3]->p50_us : 0;
    return std::max(0.0, many - few) / static_cast<double>(usual);
  };

  const auto bags = static_cast<double>(samples);
  const double ids = bags * part.pooling;
  const double columns = bags * static_cast<double>(part.dim);
  workload::Model alone;
  alone.tables = {part};
  alone.table_optimizer = job_.model->table_optimizer;
  const bool train = job_.settings.mode == workload::Mode::kTrain;
  ShardLoad load{
      .forward_us = slope(0) + rates_.forward_us.At(ids, bags, columns),
      .bytes = workload::TableBytes(alone, job_.settings) +
               rates_.bytes.At(ids, bags, columns),
      .columns = static_cast<double>(part.dim),
      .ids = part.pooling * static_cast<double>(job_.settings.batch)};
  if (train) {
    load.backward_us =
        slope(1) + slope(2) + rates_.backward_us.At(ids, bags, columns);
  }
  if (workload::LookedUpByHost(part)) {
    PriceByHost(part, load);
    return load;
  }
  if (copied && train) {
    const double elements =
        static_cast<double>(part.rows) * static_cast<double>(part.dim);
    load.backward_us += elements * rates_.replicated_element_us;
    load.bytes += elements * kGradientBytes;
  }
  return load;
}

}  // namespace stepcast::plan
