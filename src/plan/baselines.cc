// The sharders of the papers: whole tables, dealt out by simple rules
// (docs/models/planner.md).
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/rng.h"
#include "plan/sharders.h"

namespace stepcast::plan {
namespace {

// A table whole on `rank`; where constraints forbid that, in the first way they
// leave, from that rank on.
Choice WholeOn(const Problem& problem, size_t table, int rank) {
  const Option& option = problem.tables[table].options.front();
  Choice choice;
  if (option.sharding == Sharding::kTableRowWise) {
    choice.places = {rank / problem.ranks.per_node()};
    return choice;
  }
  for (int i = 0; i < PlacesOf(option); ++i) {
    choice.places.push_back((rank + i) % problem.ranks.count);
  }
  return choice;
}

Found Finish(const Problem& problem, Choices choices) {
  const Cost cost = Ledger(problem, choices).Evaluate();
  return {.choices = std::move(choices), .cost = cost, .evaluations = 1};
}

double BytesOf(const Problem& problem, size_t table) {
  return problem.tables[table].options.front().load.bytes;
}

using TableWeight = double (*)(const workload::TableGroup& table);

double Size(const workload::TableGroup& table) {
  return static_cast<double>(table.rows) * static_cast<double>(table.dim);
}

double Lookups(const workload::TableGroup& table) {
  return static_cast<double>(table.dim) * table.pooling;
}

double SizeAndLookups(const workload::TableGroup& table) {
  return Lookups(table) * std::log10(static_cast<double>(table.rows));
}

// What a rank has so far.
struct Pile {
  double weight = 0;
  double bytes = 0;
};

// The rank with the least weight, then the least memory, among those with room;
// if there is none, the one with most room.
int FindRank(const std::vector<Pile>& piles, double bytes, double capacity) {
  int best = -1;
  int roomiest = 0;
  for (int rank = 0; rank < static_cast<int>(piles.size()); ++rank) {
    const Pile& pile = piles[static_cast<size_t>(rank)];
    if (pile.bytes < piles[static_cast<size_t>(roomiest)].bytes) {
      roomiest = rank;
    }
    if (pile.bytes + bytes > capacity) {
      continue;
    }
    if (best < 0) {
      best = rank;
      continue;
    }
    const Pile& least = piles[static_cast<size_t>(best)];
    if (pile.weight < least.weight ||
        (pile.weight == least.weight && pile.bytes < least.bytes)) {
      best = rank;
    }
  }
  return best < 0 ? roomiest : best;
}

Found ShardByWeight(const Problem& problem, TableWeight weight) {
  std::vector<size_t> order(problem.tables.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](size_t table) {
    return weight(problem.tables[table].group);
  });
  std::vector<Pile> piles(static_cast<size_t>(problem.ranks.count));
  Choices choices(order.size());
  for (const size_t table : order) {
    const double bytes = BytesOf(problem, table);
    const int rank = FindRank(piles, bytes, problem.capacity_bytes);
    Pile& pile = piles[static_cast<size_t>(rank)];
    pile.weight += weight(problem.tables[table].group);
    pile.bytes += bytes;
    choices[table] = WholeOn(problem, table, rank);
  }
  return Finish(problem, std::move(choices));
}

}  // namespace

Found ShardNaively(const Problem& problem, const SearchOptions& /*options*/) {
  Choices choices;
  for (size_t table = 0; table < problem.tables.size(); ++table) {
    choices.push_back(
        WholeOn(problem, table, static_cast<int>(table) % problem.ranks.count));
  }
  return Finish(problem, std::move(choices));
}

Found ShardInChunks(const Problem& problem, const SearchOptions& /*options*/) {
  const auto ranks = static_cast<size_t>(problem.ranks.count);
  const size_t tables = problem.tables.size();
  Choices choices;
  for (size_t table = 0; table < tables; ++table) {
    choices.push_back(
        WholeOn(problem, table, static_cast<int>(table * ranks / tables)));
  }
  return Finish(problem, std::move(choices));
}

Found ShardRandomly(const Problem& problem, const SearchOptions& options) {
  Rng rng(options.seed);
  std::vector<double> bytes(static_cast<size_t>(problem.ranks.count));
  Choices choices;
  for (size_t table = 0; table < problem.tables.size(); ++table) {
    std::vector<int> with_room;
    for (int rank = 0; rank < problem.ranks.count; ++rank) {
      if (bytes[static_cast<size_t>(rank)] + BytesOf(problem, table) <=
          problem.capacity_bytes) {
        with_room.push_back(rank);
      }
    }
    const int rank = with_room.empty()
                         ? static_cast<int>(rng.Below(
                               static_cast<uint64_t>(problem.ranks.count)))
                         : rng.Pick(with_room);
    bytes[static_cast<size_t>(rank)] += BytesOf(problem, table);
    choices.push_back(WholeOn(problem, table, rank));
  }
  return Finish(problem, std::move(choices));
}

Found ShardBySize(const Problem& problem, const SearchOptions& /*options*/) {
  return ShardByWeight(problem, Size);
}

Found ShardByLookups(const Problem& problem, const SearchOptions& /*options*/) {
  return ShardByWeight(problem, Lookups);
}

Found ShardBySizeAndLookups(const Problem& problem,
                            const SearchOptions& /*options*/) {
  return ShardByWeight(problem, SizeAndLookups);
}

}  // namespace stepcast::plan
