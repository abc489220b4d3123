#include "plan/make_problem.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/parallel.h"
#include "plan/price_shards.h"
#include "workload/impl/placed_lookup.h"
#include "workload/memory.h"
#include "workload/shapes.h"
#include "workload/table_deal.h"

namespace stepcast::plan {
namespace {

// A slice of columns has rows of at least 128 bytes, what a warp reads at once.
constexpr int64_t kLeastColumnsOfSlice = 32;
// FBGEMM reads four numbers at a time.
constexpr int64_t kColumnStep = 4;
// A copy on every rank may take so much of its memory.
constexpr double kMostOfMemory = 0.1;

bool IsAllowed(const std::vector<Sharding>& allowed, Sharding sharding) {
  return std::ranges::find(allowed, sharding) != allowed.end();
}

std::vector<Option> OptionsOf(const Job& job, const workload::TableGroup& table,
                              const std::vector<Sharding>& allowed) {
  const Ranks& ranks = job.ranks;
  std::vector<Option> options;
  const auto add = [&](Sharding sharding, int shards) {
    if (IsAllowed(allowed, sharding)) {
      options.push_back({.sharding = sharding, .shards = shards});
    }
  };
  add(Sharding::kTableWise, 1);
  // What a host looks up stays whole: it does so for one rank.
  if (ranks.count == 1 || workload::LookedUpByHost(table)) {
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

std::string TableName(const workload::Model& /*model*/, size_t index) {
  return fmt::format("t_cat_{}", index);  // As torchrec_dlrm names them.
}

Result<Problem> MakeProblem(const Job& job, const ProblemOptions& options) {
  Problem problem{.ranks = job.ranks, .batch = job.settings.batch};
  problem.element_bytes = static_cast<double>(
      ir::SizeOf(workload::TypesOf(job.settings.precision).parameter));
  for (workload::TableGroup& table :
       workload::SingleTables(job.model->tables)) {
    const size_t index = problem.tables.size();
    problem.tables.push_back({.name = TableName(*job.model, index)});
    problem.tables.back().options =
        OptionsOf(job, table,
                  AllowedFor(problem.tables.back().name, options.constraints));
    problem.tables.back().host_bytes =
        workload::HostBytes(table, *job.model, job.settings);
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
