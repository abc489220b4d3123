#include "plan/make_problem.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/parallel.h"
#include "engine/run/price_activities.h"
#include "model/build_graph.h"
#include "model/frameworks/placed_lookup.h"
#include "model/memory.h"
#include "model/model.h"
#include "model/shapes.h"
#include "model/tables/embedding_stats.h"
#include "model/tables/rank_plan.h"
#include "model/tables/table_assignment.h"
#include "plan/problem.h"
#include "plan/shard_rates.h"

namespace stepcast::plan {

Result<Constraint> ParseConstraint(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 ||
      equals + 1 == text.size()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("constraint '{}' has no table or no sharding "
                            "types; expected TABLE=TYPE,TYPE as in "
                            "t_cat_*=table_wise,row_wise",
                            text));
  }
  Constraint constraint{.text = std::string(text),
                        .tables = Glob(text.substr(0, equals))};
  std::string_view rest = text.substr(equals + 1);
  while (true) {
    const size_t comma = rest.find(',');
    ASSIGN_OR_RETURN(const Sharding sharding,
                     ParseSharding(rest.substr(0, comma)));
    constraint.allowed.push_back(sharding);
    if (comma == std::string_view::npos) {
      return constraint;
    }
    rest.remove_prefix(comma + 1);
  }
}

std::vector<Sharding> AllowedFor(std::string_view table,
                                 const std::vector<Constraint>& constraints) {
  std::vector<Sharding> allowed;
  for (size_t i = 0; i < kShardingCount; ++i) {
    const auto sharding = static_cast<Sharding>(i);
    const bool forbidden =
        std::ranges::any_of(constraints, [&](const Constraint& constraint) {
          return constraint.tables.Matches(table) &&
                 std::ranges::find(constraint.allowed, sharding) ==
                     constraint.allowed.end();
        });
    if (!forbidden) {
      allowed.push_back(sharding);
    }
  }
  return allowed;
}

namespace {

// The price of a part of a table on the rank that has it.

class ShardPricer {
 public:
  ShardPricer(const Job& job, const ShardRates& rates)
      : job_(job), rates_(rates) {}

  /// The load of each part of `table`, divided as `option` says: what one
  /// part more takes in the kernels of a rank that has a usual number of them,
  /// for they handle all parts in one go. Of tables that the host looks up:
  /// what the host and copies take, which nothing hides.
  ShardLoad Price(const model::TableGroup& table, const Option& option) const;

 private:
  void PriceByHost(const model::TableGroup& part, ShardLoad& load) const;

  const Job& job_;
  const ShardRates& rates_;
};

// What one part is as a table of its rank.
model::TableGroup PartOf(const model::TableGroup& table, const Option& option) {
  model::TableGroup part = table;
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

// What a rank with these tables takes without collectives, in each pass.
struct PassTimes {
  double forward_us = 0;
  double backward_us = 0;
};

PassTimes TimesWith(const Job& job, std::vector<model::TableGroup> tables) {
  const model::RankPlan plan{.world = job.ranks.count,
                             .local = std::move(tables),
                             .makers = job.ranks.count};
  const auto graph = model::BuildRankGraph(*job.model, job.settings, plan);
  CHECK(graph.has_value()) << graph.error().message;
  const ir::GraphData& data = graph->data();
  const engine::PricedActivities prices =
      engine::PriceActivities(data, *job.kernels, nullptr, {.host = job.host});
  PassTimes times;
  for (const ir::ActivityId id : data.activities.ids()) {
    const ir::Activity& activity = data.activities[id];
    if (!activity.call.valid() || !data.calls[activity.call].op.valid()) {
      continue;
    }
    const ir::Phase phase = data.ops[data.calls[activity.call].op].phase;
    (phase == ir::Phase::kBackward ? times.backward_us : times.forward_us) +=
        prices.prices[id].p50_us;
  }
  return times;
}

void ShardPricer::PriceByHost(const model::TableGroup& part,
                              ShardLoad& load) const {
  const PassTimes with = TimesWith(job_, {part});
  const PassTimes without = TimesWith(job_, {});
  load.forward_us = std::max(0.0, with.forward_us - without.forward_us);
  load.backward_us = std::max(0.0, with.backward_us - without.backward_us);
}

ShardLoad ShardPricer::Price(const model::TableGroup& table,
                             const Option& option) const {
  const bool copied = option.sharding == Sharding::kDataParallel;
  const model::TableGroup part = PartOf(table, option);
  const int64_t samples = job_.settings.batch * (copied ? 1 : job_.ranks.count);
  const auto usual =
      std::max<int64_t>(1, model::TableCount(*job_.model) / job_.ranks.count);

  // Forward and the two kernels of backward, of a usual number of such parts
  // and of twice as many.
  std::array<ir::KernelShape, 6> shapes;
  for (size_t i = 0; i < 2; ++i) {
    model::TableGroup parts = part;
    parts.count = usual * static_cast<int64_t>(i + 1);
    ir::EmbeddingBag bag = model::Lookup(
        {&parts, 1},
        {.batch = samples,
         .dtype = model::TypesOf(job_.settings.precision).parameter,
         .alpha =
             model::CommonAlpha({&parts, 1}, samples, job_.settings.seed)});
    shapes[3 * i] = bag;
    bag.pass = ir::Pass::kBackward;
    bag.update = copied ? ir::Update::kNone
                        : model::UpdateOf(job_.model->table_optimizer);
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
  model::Model alone;
  alone.tables = {part};
  alone.table_optimizer = job_.model->table_optimizer;
  const bool train = job_.settings.mode == model::Mode::kTrain;
  ShardLoad load{
      .forward_us = slope(0) + rates_.forward_us.At(ids, bags, columns),
      .bytes = model::TableBytes(alone, job_.settings) +
               rates_.bytes.At(ids, bags, columns),
      .columns = static_cast<double>(part.dim),
      .ids = part.pooling * static_cast<double>(job_.settings.batch)};
  if (train) {
    load.backward_us =
        slope(1) + slope(2) + rates_.backward_us.At(ids, bags, columns);
  }
  if (model::LookedUpByHost(part)) {
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

// A slice of columns has rows of at least 128 bytes, what a warp reads at once.
constexpr int64_t kLeastColumnsOfSlice = 32;
// FBGEMM reads four numbers at a time.
constexpr int64_t kColumnStep = 4;
// A copy on every rank may take so much of its memory.
constexpr double kMostOfMemory = 0.1;

bool IsAllowed(const std::vector<Sharding>& allowed, Sharding sharding) {
  return std::ranges::find(allowed, sharding) != allowed.end();
}

std::vector<Option> OptionsOf(const Job& job, const model::TableGroup& table,
                              const std::vector<Sharding>& allowed) {
  const Ranks& ranks = job.ranks;
  std::vector<Option> options;
  const auto add = [&](Sharding sharding, int shards) {
    if (IsAllowed(allowed, sharding)) {
      options.push_back({.sharding = sharding, .shards = shards});
    }
  };
  add(Sharding::kTableWise, 1);
  // A table that a host looks up is unsharded: the host does so for one rank.
  if (ranks.count == 1 || model::LookedUpByHost(table)) {
    return options;
  }
  for (int cuts = 2; cuts <= ranks.count; cuts *= 2) {
    const int64_t width = table.dim / cuts;
    if (table.dim % cuts == 0 && width % kColumnStep == 0 &&
        width >= kLeastColumnsOfSlice) {
      add(Sharding::kColumnWise, cuts);
    }
  }
  if (ranks.nodes > 1 && ranks.per_node() > 1 &&
      table.rows >= ranks.per_node()) {
    add(Sharding::kTableRowWise, ranks.per_node());
  }
  if (table.rows >= ranks.count) {
    add(Sharding::kRowWise, ranks.count);
  }
  const double bytes =
      4.0 * static_cast<double>(table.rows) * static_cast<double>(table.dim);
  if (bytes <= kMostOfMemory * job.device_bytes) {
    add(Sharding::kDataParallel, ranks.count);
  }
  return options;
}

Status CheckConstraints(const std::vector<Constraint>& constraints,
                        const Problem& problem) {
  for (const Constraint& constraint : constraints) {
    const bool any = std::ranges::any_of(problem.tables, [&](const Table& t) {
      return constraint.tables.Matches(t.name);
    });
    if (!any) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("constraint '{}' names no table; expected {} "
                              "to {}",
                              constraint.text, problem.tables.front().name,
                              problem.tables.back().name));
    }
  }
  for (const Table& table : problem.tables) {
    if (table.options.empty()) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("constraints leave table {} ({} rows, {} "
                              "columns) nowhere to go on {} ranks; expected a "
                              "sharding type that it can have",
                              table.name, table.group.rows, table.group.dim,
                              problem.ranks.count));
    }
  }
  return {};
}

// More bytes than any rank sends at once.
constexpr double kMostBytes = 1e13;

CostCurve CurveOf(const cost::CollectiveModels& models, ir::CollectiveKind kind,
                  cost::RankGroup group) {
  return CostCurve(kMostBytes, [&](double bytes) {
    const auto price =
        models.Price({.kind = kind,
                      .bytes = {static_cast<int64_t>(std::llround(bytes))},
                      .group_size = group.ranks,
                      .dtype = ir::DType::kFp32},
                     group);
    return price ? price->p50_us : 0;
  });
}

Exchanges PriceExchanges(const Job& job) {
  using ir::CollectiveKind;
  Exchanges exchanges;
  if (job.collectives == nullptr || job.ranks.count == 1) {
    return exchanges;
  }
  const cost::CollectiveModels& models = *job.collectives;
  const cost::RankGroup all{.ranks = job.ranks.count, .nodes = job.ranks.nodes};
  const cost::RankGroup node{.ranks = job.ranks.per_node(), .nodes = 1};
  exchanges.to_samples = CostCurve(kMostBytes, [&](double bytes) {
    return models.Price(cost::EvenLoad(CollectiveKind::kAllToAll, all, bytes))
        .p50_us;
  });
  exchanges.reduce_scatter =
      CurveOf(models, CollectiveKind::kReduceScatter, all);
  exchanges.all_gather = CurveOf(models, CollectiveKind::kAllGather, all);
  exchanges.all_reduce = CurveOf(models, CollectiveKind::kAllReduce, all);
  if (job.ranks.nodes > 1 && job.ranks.per_node() > 1) {
    exchanges.node_reduce_scatter =
        CurveOf(models, CollectiveKind::kReduceScatter, node);
    exchanges.node_all_gather =
        CurveOf(models, CollectiveKind::kAllGather, node);
    exchanges.across_nodes = CostCurve(kMostBytes, [&](double bytes) {
      return models
          .Price(cost::CollectiveLoad{
              .kind = CollectiveKind::kAllToAll,
              .group = all,
              .wire_bytes = bytes,
              .peer_bytes = bytes / std::max(1, all.nodes - 1),
              .remote_bytes = bytes})
          .p50_us;
    });
  }
  return exchanges;
}

}  // namespace

std::string TableName(const model::Model& /*model*/, size_t index) {
  return fmt::format("t_cat_{}", index);  // As torchrec_dlrm names them.
}

Result<Problem> MakeProblem(const Job& job, const ProblemOptions& options) {
  Problem problem{.ranks = job.ranks, .batch = job.settings.batch};
  problem.element_bytes = static_cast<double>(
      ir::SizeOf(model::TypesOf(job.settings.precision).parameter));
  for (model::TableGroup& table : model::SingleTables(job.model->tables)) {
    const size_t index = problem.tables.size();
    problem.tables.push_back({.name = TableName(*job.model, index)});
    problem.tables.back().options =
        OptionsOf(job, table,
                  AllowedFor(problem.tables.back().name, options.constraints));
    problem.tables.back().host_bytes =
        model::HostBytes(table, *job.model, job.settings);
    problem.tables.back().group = std::move(table);
  }
  if (problem.tables.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} has no tables; expected a model with some",
                            job.model->name));
  }
  RETURN_IF_ERROR(CheckConstraints(options.constraints, problem));
  ASSIGN_OR_RETURN(const ShardRates rates, MeasureShardRates(job));
  const ShardPricer pricer(job, rates);
  ParallelFor(problem.tables.size(), options.threads, [&](size_t i) {
    for (Option& option : problem.tables[i].options) {
      option.load = pricer.Price(problem.tables[i].group, option);
    }
  });
  problem.exchanges = PriceExchanges(job);
  problem.host = rates.host;
  problem.lead_us = rates.lead_us;
  problem.other_us = rates.other_us;
  problem.other_bytes = rates.other_bytes;
  problem.capacity_bytes =
      (options.device_bytes > 0 ? options.device_bytes : job.device_bytes) -
      rates.other_bytes;
  return problem;
}

Result<Choices> Adopt(const Job& job, const Plan& plan, Problem& problem) {
  ASSIGN_OR_RETURN(const ShardRates rates, MeasureShardRates(job));
  const ShardPricer pricer(job, rates);
  Choices choices;
  for (size_t i = 0; i < plan.tables.size(); ++i) {
    const TablePlan& planned = plan.tables[i];
    Table& table = problem.tables[i];
    const auto shards = static_cast<int>(planned.shards.size());
    auto option = std::ranges::find_if(table.options, [&](const Option& known) {
      return known.sharding == planned.sharding && known.shards == shards;
    });
    if (option == table.options.end()) {
      Option added{.sharding = planned.sharding, .shards = shards};
      added.load = pricer.Price(table.group, added);
      option = table.options.insert(table.options.end(), added);
    }
    Choice choice{.option =
                      static_cast<uint16_t>(option - table.options.begin())};
    for (int part = 0; part < PlacesOf(*option); ++part) {
      const int rank = planned.shards[static_cast<size_t>(part)].rank;
      choice.places.push_back(planned.sharding == Sharding::kTableRowWise
                                  ? rank / problem.ranks.per_node()
                                  : rank);
    }
    choices.push_back(std::move(choice));
  }
  return choices;
}

}  // namespace stepcast::plan
