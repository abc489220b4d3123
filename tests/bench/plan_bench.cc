// How many plans per second the planner's cost function ranks: parts moved one
// at a time, and whole searches.
#include <benchmark/benchmark.h>

#include "base/rng.h"
#include "plan/ledger.h"
#include "plan/sharders.h"

namespace stepcast::plan {
namespace {

// 856 tables, loads as made up as any: the cost does not look at them.
Problem LargeProblem(int ranks, int nodes) {
  Rng rng(1);
  Problem problem;
  problem.ranks = {.count = ranks, .nodes = nodes};
  problem.batch = 512;
  problem.capacity_bytes = 1e12;
  const CostCurve curve(1e12, [](double bytes) { return 20 + bytes / 1e5; });
  problem.exchanges = {.to_samples = curve,
                       .reduce_scatter = curve,
                       .all_gather = curve,
                       .all_reduce = curve,
                       .node_reduce_scatter = curve,
                       .node_all_gather = curve,
                       .across_nodes = curve};
  constexpr int kTables = 856;
  for (int i = 0; i < kTables; ++i) {
    Table table{.group = {.rows = rng.Between(30, 20'000'000),
                          .dim = int64_t{32} << rng.Below(4),
                          .pooling = static_cast<double>(rng.Between(1, 100))}};
    const double us =
        static_cast<double>(table.group.dim) * table.group.pooling / 100;
    table.options = {
        {.load = {.forward_us = us,
                  .backward_us = 2 * us,
                  .bytes = 4.0 * static_cast<double>(table.group.rows) *
                           static_cast<double>(table.group.dim),
                  .columns = static_cast<double>(table.group.dim)}}};
    problem.tables.push_back(std::move(table));
  }
  return problem;
}

void MovesAPart(benchmark::State& state) {
  const auto ranks = static_cast<int>(state.range(0));
  const Problem problem = LargeProblem(ranks, ranks / 8);
  Choices choices = ShardNaively(problem, {}).choices;
  Ledger ledger(problem, choices);
  Rng rng(2);
  for (auto step : state) {
    const auto table = static_cast<size_t>(rng.Below(choices.size()));
    const auto to = static_cast<int>(rng.Below(static_cast<uint64_t>(ranks)));
    ledger.Move(table, choices[table], 0, to);
    choices[table].places[0] = to;
    benchmark::DoNotOptimize(ledger.Evaluate().us);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(MovesAPart)->Arg(8)->Arg(128)->Arg(1024);

void SearchesLocally(benchmark::State& state) {
  const auto ranks = static_cast<int>(state.range(0));
  const Problem problem = LargeProblem(ranks, ranks / 8);
  const Choices start = ShardNaively(problem, {}).choices;
  int64_t evaluations = 0;
  for (auto step : state) {
    SearchOptions options;
    options.evaluations = 200'000;
    evaluations += Improve(problem, start, options).evaluations;
  }
  state.SetItemsProcessed(evaluations);
}
BENCHMARK(SearchesLocally)->Arg(8)->Arg(128);

}  // namespace
}  // namespace stepcast::plan

BENCHMARK_MAIN();
