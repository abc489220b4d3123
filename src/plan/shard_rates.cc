#include "plan/shard_rates.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>
#include <vector>

#include "base/units.h"
#include "model/build_graph.h"
#include "model/memory.h"
#include "model/tables/rank_plan.h"
#include "timeline/predicted_plan.h"

namespace stepcast::plan {
namespace {

// What one rank's step takes, without the kernels of embeddings and without
// collectives.
struct Sums {
  double forward_us = 0;
  double backward_us = 0;
  double bytes = 0;    // Of memory, without tables.
  double lead_us = 0;  // Of forward_us: before the first exchange.
  HostTime host{};
};

// The calls at which a step's host time is cut.
struct Cuts {
  std::vector<bool> sizes{};      // By call: waits for sizes of a batch.
  std::vector<bool> gradients{};  // Sends gradients to tables.
};

Cuts CutsOf(const ir::GraphData& data) {
  Cuts cuts{.sizes = std::vector<bool>(data.calls.size()),
            .gradients = std::vector<bool>(data.calls.size())};
  const auto is_in = [&](ir::CallId call, ir::Phase phase) {
    const ir::OpId op = data.calls[call].op;
    return op.valid() && data.ops[op].phase == phase;
  };
  for (const ir::HostWait& wait : data.host_waits) {
    cuts.sizes[wait.call.value] = is_in(wait.call, ir::Phase::kSparseDataDist);
  }
  for (const ir::Activity& activity : data.activities) {
    const auto* const part =
        std::get_if<ir::Collective>(&data.shapes[activity.shape]);
    if (part != nullptr && part->kind != ir::CollectiveKind::kAllReduce &&
        activity.call.valid() && is_in(activity.call, ir::Phase::kBackward)) {
      cuts.gradients[activity.call.value] = true;
    }
  }
  return cuts;
}

// The main thread runs to the loss, then autograd's, then the main thread's
// optimizer. Of each, what comes up to the last cut counts to the part before
// it.
HostTime HostTimeOf(const ir::Graph& graph, const cost::OverheadTable& table) {
  const ir::GraphData& data = graph.data();
  const timeline::HostPlan plan =
      timeline::PredictedPlan(graph, table, {.profiled = false});
  const Cuts cuts = CutsOf(data);
  HostTime time;
  for (const auto& segments : plan.threads) {
    double all = 0;
    double early = 0;      // Up to the first wait for sizes,
    double before = 0;     // and up to the last.
    double middle = 0;     // Up to the last gradients sent.
    double optimizer = 0;  // After the wait.
    for (const timeline::HostSegment& segment : segments) {
      const double us = ToMicroseconds(segment.duration + segment.tail);
      all += us;
      const bool updates = segment.op.valid() &&
                           data.ops[segment.op].phase == ir::Phase::kOptimizer;
      optimizer += updates ? us : 0;
      if (segment.call.valid() && cuts.sizes[segment.call.value]) {
        early = before == 0 ? all : early;
        before = all;
        optimizer = 0;
      } else if (segment.call.valid() && cuts.gradients[segment.call.value]) {
        middle = all;
      }
    }
    if (middle == 0 && before > 0) {  // The main thread.
      middle = all - optimizer;
    }
    time.before_us += before - early;
    time.middle_us += std::max(0.0, middle - before);
    time.after_us += all - std::max(middle, before) + early;
  }
  return time;
}

bool IsCounted(const ir::KernelShape& shape) {
  return !std::holds_alternative<ir::EmbeddingBag>(shape) &&
         !std::holds_alternative<ir::Collective>(shape);
}

Result<Sums> SumUp(const Job& job, const model::RankPlan& plan) {
  ASSIGN_OR_RETURN(const ir::Graph graph,
                   model::BuildRankGraph(*job.model, job.settings, plan));
  const ir::GraphData& data = graph.data();
  std::vector<std::optional<cost::Estimate>> prices(data.shapes.size());
  job.kernels->PriceAll(data.shapes.items(), prices);
  Sums sums;
  bool leading = true;
  for (const ir::Activity& activity : data.activities) {
    const auto& price = prices[activity.shape.value];
    const auto* const part =
        std::get_if<ir::Collective>(&data.shapes[activity.shape]);
    leading = leading && part == nullptr;
    if (!price || !IsCounted(data.shapes[activity.shape]) ||
        !activity.call.valid() || !data.calls[activity.call].op.valid()) {
      continue;
    }
    switch (data.ops[data.calls[activity.call].op].phase) {
      case ir::Phase::kBackward:
      case ir::Phase::kOptimizer:
        sums.backward_us += price->p50_us;
        break;
      case ir::Phase::kForward:
      case ir::Phase::kSparseDataDist:
        sums.forward_us += price->p50_us;
        sums.lead_us += leading ? price->p50_us : 0;
        break;
      default:  // Copies of input, the same on every rank and hidden.
        break;
    }
  }
  sums.bytes =
      model::MemoryOf(
          *job.model, job.settings, graph,
          {.table_share = 0, .communication = model::CommunicationBytes(graph)})
          .total();
  if (job.overheads != nullptr) {
    sums.host = HostTimeOf(graph, *job.overheads);
  }
  return sums;
}

// A table as the model's are on average, and as many as a rank has.
model::TableGroup UsualTable(const Job& job) {
  double tables = 0;
  double rows = 0;
  double columns = 0;
  double ids = 0;
  for (const model::TableGroup& group : job.model->tables) {
    const auto count = static_cast<double>(group.count);
    tables += count;
    rows += count * static_cast<double>(group.rows);
    columns += count * static_cast<double>(group.dim);
    ids += count * group.pooling;
  }
  const auto mean = [tables](double sum) {
    return std::max<int64_t>(1, std::llround(sum / tables));
  };
  return {.count = std::max<int64_t>(1, std::llround(tables / job.ranks.count)),
          .rows = mean(rows),
          .dim = mean(columns),
          .pooling = static_cast<double>(mean(ids))};
}

model::RankPlan PlanWith(const Job& job, std::vector<model::TableGroup> local) {
  return {.world = job.ranks.count,
          .local = std::move(local),
          .makers = job.ranks.count};
}

double Sloped(double more, double less, double by) {
  return std::max(0.0, (more - less) / by);
}

constexpr double HostTime::*kHostParts[] = {
    &HostTime::before_us, &HostTime::middle_us, &HostTime::after_us};

// A kind of table: what the host does for the first one, and for each.
using PutTables = void (*)(model::RankPlan& plan,
                           std::vector<model::TableGroup> tables,
                           const Ranks& ranks);

Result<HostRates::Kind> MeasureHost(const Job& job, const Sums& base,
                                    PutTables put) {
  const model::TableGroup usual = UsualTable(job);
  // A small table: updates of large copies take more launches.
  constexpr int64_t kRows = 1000;
  model::TableGroup table = usual;
  table.count = 1;
  table.rows = std::min(table.rows, kRows);
  model::RankPlan plan = PlanWith(job, {usual});
  put(plan, {table}, job.ranks);
  ASSIGN_OR_RETURN(const Sums one, SumUp(job, plan));
  put(plan, {table, table}, job.ranks);
  ASSIGN_OR_RETURN(const Sums two, SumUp(job, plan));
  HostRates::Kind kind;
  for (double HostTime::*const part : kHostParts) {
    kind.each.*part = Sloped(two.host.*part, one.host.*part, 1);
    kind.first.*part =
        std::max(0.0, one.host.*part - base.host.*part - kind.each.*part);
  }
  return kind;
}

void PutReplicated(model::RankPlan& plan, std::vector<model::TableGroup> tables,
                   const Ranks& /*ranks*/) {
  plan.replicated = std::move(tables);
}

void PutSplit(model::RankPlan& plan, std::vector<model::TableGroup> tables,
              const Ranks& /*ranks*/) {
  plan.split = std::move(tables);
}

void PutNodeSplit(model::RankPlan& plan, std::vector<model::TableGroup> tables,
                  const Ranks& ranks) {
  plan.ranks_per_node = ranks.per_node();
  plan.node_columns.assign(static_cast<size_t>(ranks.nodes), 1);
  plan.node_split = std::move(tables);
}

Result<HostRates> MeasureHost(const Job& job, const Sums& base) {
  HostRates host{.base = base.host};
  if (job.overheads == nullptr || job.ranks.count == 1) {
    return host;
  }
  model::RankPlan alone = PlanWith(job, {UsualTable(job)});
  alone.makers = 1;
  ASSIGN_OR_RETURN(const Sums one, SumUp(job, alone));
  for (double HostTime::*const part : kHostParts) {
    host.makers.each.*part =
        Sloped(base.host.*part, one.host.*part, job.ranks.count - 1);
    host.base.*part = one.host.*part;
  }
  ASSIGN_OR_RETURN(host.replicated, MeasureHost(job, base, PutReplicated));
  ASSIGN_OR_RETURN(host.split, MeasureHost(job, base, PutSplit));
  if (job.ranks.nodes > 1 && job.ranks.per_node() > 1) {
    ASSIGN_OR_RETURN(host.node_split, MeasureHost(job, base, PutNodeSplit));
  }
  return host;
}

}  // namespace

Result<ShardRates> MeasureShardRates(const Job& job) {
  const model::TableGroup usual = UsualTable(job);
  model::TableGroup longer = usual;
  longer.pooling *= 2;
  model::TableGroup wider = usual;
  wider.dim *= 2;
  model::TableGroup more = usual;
  more.count *= 2;
  ASSIGN_OR_RETURN(const Sums none, SumUp(job, PlanWith(job, {})));
  ASSIGN_OR_RETURN(const Sums base, SumUp(job, PlanWith(job, {usual})));
  ASSIGN_OR_RETURN(const Sums with_ids, SumUp(job, PlanWith(job, {longer})));
  ASSIGN_OR_RETURN(const Sums with_columns, SumUp(job, PlanWith(job, {wider})));
  ASSIGN_OR_RETURN(const Sums with_bags, SumUp(job, PlanWith(job, {more})));

  const double bags = static_cast<double>(usual.count) *
                      static_cast<double>(job.settings.batch) * job.ranks.count;
  const double ids = bags * usual.pooling;
  const double columns = bags * static_cast<double>(usual.dim);
  const auto rates = [&](double Sums::*part) {
    Rates made{.per_id = Sloped(with_ids.*part, base.*part, ids),
               .per_column = Sloped(with_columns.*part, base.*part, columns)};
    made.per_bag = Sloped(with_bags.*part - base.*part,
                          made.per_id * ids + made.per_column * columns, bags);
    return made;
  };
  ShardRates measured{
      .forward_us = rates(&Sums::forward_us),
      .backward_us = rates(&Sums::backward_us),
      .bytes = rates(&Sums::bytes),
      .lead_us = none.lead_us,
      .other_us = none.forward_us + none.backward_us - none.lead_us,
      .other_bytes = none.bytes};

  ASSIGN_OR_RETURN(measured.host, MeasureHost(job, base));

  // Numbers of a replicated table, enough to show next to latencies.
  model::TableGroup copied = usual;
  copied.count = 1;
  copied.rows = 1'000'000;
  model::RankPlan replicated = PlanWith(job, {usual});
  replicated.replicated = {copied};
  model::RankPlan twice = replicated;
  twice.replicated.front().rows *= 2;
  ASSIGN_OR_RETURN(const Sums one, SumUp(job, replicated));
  ASSIGN_OR_RETURN(const Sums two, SumUp(job, twice));
  measured.replicated_element_us = Sloped(
      two.backward_us, one.backward_us,
      static_cast<double>(copied.rows) * static_cast<double>(copied.dim));
  return measured;
}

}  // namespace stepcast::plan
