#include "tests/testing/random_problem.h"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "base/rng.h"

namespace stepcast::testing {
namespace {

using plan::Option;
using plan::Sharding;

// From `least` to `most`, evenly over the logarithm.
double Spread(Rng& rng, double least, double most) {
  constexpr double kSteps = 1e6;
  const double part = static_cast<double>(rng.Below(1'000'000)) / kSteps;
  return least * std::pow(most / least, part);
}

plan::CostCurve Curve(double latency_us, double gb_per_s) {
  return plan::CostCurve(1e12, [=](double bytes) {
    return latency_us + bytes / (gb_per_s * 1e3);
  });
}

// A part's load where a lookup reads `rows_gbs` and rows are updated thrice as
// slowly.
plan::ShardLoad LoadOf(const model::TableGroup& table, double parts,
                       double share_of_ids, double samples) {
  constexpr double kBytesPerUs = 1e6;
  const double ids = samples * table.pooling * share_of_ids;
  const double columns = static_cast<double>(table.dim) / parts;
  const double moved = 4 * columns * (ids + samples);
  return {.forward_us = moved / kBytesPerUs,
          .backward_us = 3 * moved / kBytesPerUs,
          .bytes = 4 * static_cast<double>(table.rows) * columns,
          .columns = columns,
          .ids = ids};
}

void AddOptions(plan::Problem& problem, plan::Table& table) {
  const int ranks = problem.ranks.count;
  const auto batch = static_cast<double>(problem.batch);
  const double samples = batch * ranks;
  const auto split = [&](double parts) {
    plan::ShardLoad load = LoadOf(table.group, 1, 1 / parts, samples);
    load.bytes /= parts;
    return load;
  };
  table.options.push_back({.sharding = Sharding::kTableWise,
                           .load = LoadOf(table.group, 1, 1, samples)});
  table.options.push_back({.sharding = Sharding::kColumnWise,
                           .shards = 2,
                           .load = LoadOf(table.group, 2, 1, samples)});
  if (problem.ranks.nodes > 1) {
    table.options.push_back({.sharding = Sharding::kTableRowWise,
                             .shards = problem.ranks.per_node(),
                             .load = split(problem.ranks.per_node())});
  }
  table.options.push_back(
      {.sharding = Sharding::kRowWise, .shards = ranks, .load = split(ranks)});
  table.options.push_back({.sharding = Sharding::kDataParallel,
                           .shards = ranks,
                           .load = LoadOf(table.group, 1, 1, batch)});
}

// Calls `visit` with every choice of an option's places; slices in order, for
// they are alike.
void ForEachChoice(const plan::Problem& problem, const Option& option,
                   uint16_t number,
                   const std::function<void(const plan::Choice&)>& visit) {
  plan::Choice choice{.option = number};
  const int places = option.sharding == Sharding::kTableRowWise
                         ? problem.ranks.nodes
                         : problem.ranks.count;
  const std::function<void(int, int)> fill = [&](int left, int first) {
    if (left == 0) {
      visit(choice);
      return;
    }
    for (int place = first; place < places; ++place) {
      choice.places.push_back(place);
      fill(left - 1, place);
      choice.places.pop_back();
    }
  };
  fill(plan::PlacesOf(option), 0);
}

void TryAll(const plan::Problem& problem, size_t table, plan::Ledger& ledger,
            plan::Cost& best) {
  if (table == problem.tables.size()) {
    const plan::Cost cost = ledger.Evaluate();
    best = plan::IsBetter(cost, best) ? cost : best;
    return;
  }
  const std::vector<Option>& options = problem.tables[table].options;
  for (size_t i = 0; i < options.size(); ++i) {
    ForEachChoice(problem, options[i], static_cast<uint16_t>(i),
                  [&](const plan::Choice& choice) {
                    ledger.Add(table, choice);
                    TryAll(problem, table + 1, ledger, best);
                    ledger.Remove(table, choice);
                  });
  }
}

}  // namespace

plan::Problem RandomProblem(uint64_t seed, int tables, int ranks) {
  Rng rng(seed);
  plan::Problem problem;
  problem.ranks.count = static_cast<int>(rng.Between(2, ranks));
  if (problem.ranks.count == 4 && rng.OneIn(2)) {
    problem.ranks.nodes = 2;
  }
  problem.batch = rng.Between(256, 8192);
  problem.other_us = Spread(rng, 10, 1000);
  const double latency = Spread(rng, 5, 50);
  const double rate = Spread(rng, 10, 300);
  problem.exchanges = {.to_samples = Curve(latency, rate),
                       .reduce_scatter = Curve(latency, rate),
                       .all_gather = Curve(latency, rate),
                       .all_reduce = Curve(2 * latency, rate),
                       .node_reduce_scatter = Curve(latency, 4 * rate),
                       .node_all_gather = Curve(latency, 4 * rate),
                       .across_nodes = Curve(latency, rate)};
  const auto kind = [](double first_us, double each_us) {
    return plan::HostRates::Kind{
        .first = {.before_us = first_us, .after_us = first_us},
        .each = {.before_us = each_us, .after_us = each_us}};
  };
  problem.lead_us = Spread(rng, 1, 100);
  problem.host = {.base = {.before_us = Spread(rng, 5, 250),
                           .middle_us = Spread(rng, 5, 250),
                           .after_us = Spread(rng, 5, 250)},
                  .makers = kind(0, 1),
                  .replicated = kind(10, 2.5),
                  .split = kind(15, 0.5),
                  .node_split = kind(20, 0.5)};
  const int64_t count = rng.Between(2, tables);
  double bytes = 0;
  for (int64_t i = 0; i < count; ++i) {
    plan::Table table{.name = "t_cat_" + std::to_string(i)};
    table.group = {.rows = static_cast<int64_t>(Spread(rng, 30, 2e7)),
                   .dim = int64_t{32} << rng.Below(4),
                   .pooling = std::floor(Spread(rng, 1, 100))};
    AddOptions(problem, table);
    bytes += table.options.front().load.bytes;
    problem.tables.push_back(std::move(table));
  }
  problem.capacity_bytes = bytes * (rng.OneIn(3) ? Spread(rng, 0.3, 1) : 10.0);
  return problem;
}

plan::Cost BestOfAll(const plan::Problem& problem) {
  plan::Cost best{.over_bytes = 1e30, .us = 1e30};
  plan::Ledger ledger(problem);
  TryAll(problem, 0, ledger, best);
  return best;
}

}  // namespace stepcast::testing
