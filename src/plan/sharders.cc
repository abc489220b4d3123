#include "plan/sharders.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "plan/candidates.h"

namespace stepcast::plan {

// Tables one after the other, each to where the step grows least: one plan, or
// the best few at a time.

namespace {

// Plans that beam search follows, and ranks it tries for each of them; fewer
// where a plan has many ranks to keep up.
constexpr size_t kBeamWidth = 32;
constexpr size_t kLargeBeamWidth = 8;
constexpr size_t kManyTables = 100;
constexpr size_t kBeamPlacesTried = 8;

void Subtract(RankSums& sums, const RankSums& part) {
  sums.forward_us -= part.forward_us;
  sums.backward_us -= part.backward_us;
  sums.bytes -= part.bytes;
  sums.columns -= part.columns;
}

RankSums SumOfLeast(const Problem& problem) {
  RankSums sums;
  for (const Table& table : problem.tables) {
    const RankSums least = LeastOf(table);
    sums.forward_us += least.forward_us;
    sums.backward_us += least.backward_us;
    sums.bytes += least.bytes;
    sums.columns += least.columns;
  }
  return sums;
}

// How a plan of the beam came about: a choice on top of an earlier plan.
struct Step {
  std::shared_ptr<const Step> before{};
  size_t table = 0;
  Choice choice{};
};

// A plan of some tables.
struct Partial {
  Ledger ledger;
  std::shared_ptr<const Step> last{};
};

// A way to go on from one of the plans.
struct Branch {
  size_t from = 0;
  Choice choice{};
  Cost cost{};
};

class Beam {
 public:
  Beam(const Problem& problem, size_t width, size_t places,
       std::vector<Sharding> ways)
      : problem_(problem),
        width_(width),
        places_(places),
        candidates_(problem) {
    candidates_.Prefer(std::move(ways));
  }

  Found Run(const SearchOptions& options) {
    RankSums rest = SumOfLeast(problem_);
    std::vector<Partial> plans;
    plans.push_back({.ledger = Ledger(problem_)});
    for (const size_t table : HeaviestFirst(problem_)) {
      Subtract(rest, LeastOf(problem_.tables[table]));
      // In a hurry the rest follows the best plan alone.
      if (options.stop()) {
        plans.erase(plans.begin() + 1, plans.end());
      }
      plans = GoOn(std::move(plans), table, rest);
    }
    Found found{.choices = Choices(problem_.tables.size())};
    for (const Step* step = plans.front().last.get(); step != nullptr;
         step = step->before.get()) {
      found.choices[step->table] = step->choice;
    }
    found.cost = Ledger(problem_, found.choices).Evaluate();
    found.evaluations = evaluations_;
    return found;
  }

 private:
  std::vector<Partial> GoOn(std::vector<Partial> plans, size_t table,
                            const RankSums& rest) {
    std::vector<Branch> branches;
    for (size_t from = 0; from < plans.size(); ++from) {
      Ledger& ledger = plans[from].ledger;
      ledger.SetRest(rest);
      candidates_.Sort(ledger,
                       problem_.tables[table].options.front().load.bytes);
      candidates_.Of(table, places_, choices_);
      for (const Choice& choice : choices_) {
        ledger.Add(table, choice);
        branches.push_back(
            {.from = from, .choice = choice, .cost = ledger.Evaluate()});
        ledger.Remove(table, choice);
        ++evaluations_;
      }
    }
    std::ranges::stable_sort(branches, {}, [](const Branch& branch) {
      const Cost& cost = branch.cost;
      return std::tuple(cost.over_bytes, cost.us, cost.tie);
    });
    // Plans that cost the same to the last digit are the same with ranks
    // exchanged.
    const auto same = [](const Branch& a, const Branch& b) {
      return !IsBetter(a.cost, b.cost) && !IsBetter(b.cost, a.cost);
    };
    branches.erase(std::unique(branches.begin(), branches.end(), same),
                   branches.end());
    branches.resize(std::min(branches.size(), width_));
    std::vector<Partial> next;
    for (const Branch& branch : branches) {
      next.push_back(plans[branch.from]);
      next.back().ledger.Add(table, branch.choice);
      next.back().last =
          std::make_shared<const Step>(Step{.before = plans[branch.from].last,
                                            .table = table,
                                            .choice = branch.choice});
    }
    return next;
  }

  const Problem& problem_;
  const size_t width_;
  const size_t places_;
  Candidates candidates_;
  std::vector<Choice> choices_;
  int64_t evaluations_ = 0;
};

}  // namespace

// The best of plans with all ways and with some of them: a table at a time,
// none sees that a way gains only if most tables take it.
Found ShardGreedily(const Problem& problem, const SearchOptions& options) {
  const std::vector<std::vector<Sharding>> ways = {
      {},
      {Sharding::kTableWise, Sharding::kColumnWise},
      {Sharding::kTableWise, Sharding::kColumnWise, Sharding::kDataParallel},
      {Sharding::kTableRowWise},
      {Sharding::kTableRowWise, Sharding::kDataParallel},
      {Sharding::kRowWise}};
  Found best;
  int64_t evaluations = 0;
  for (const std::vector<Sharding>& some : ways) {
    if (!best.choices.empty() && options.stop()) {
      break;
    }
    Found found =
        Beam(problem, 1, static_cast<size_t>(problem.ranks.count), some)
            .Run(options);
    evaluations += found.evaluations;
    if (best.choices.empty() || IsBetter(found.cost, best.cost)) {
      best = std::move(found);
    }
  }
  best.evaluations = evaluations;
  return best;
}

Found ShardByBeam(const Problem& problem, const SearchOptions& options) {
  const size_t width =
      problem.tables.size() > kManyTables ? kLargeBeamWidth : kBeamWidth;
  return Beam(problem, width, kBeamPlacesTried, {}).Run(options);
}

// The sharders of the papers: whole tables, sharded by simple rules
// (docs/models/planner.md).

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

using TableWeight = double (*)(const model::TableGroup& table);

double Size(const model::TableGroup& table) {
  return static_cast<double>(table.rows) * static_cast<double>(table.dim);
}

double Lookups(const model::TableGroup& table) {
  return static_cast<double>(table.dim) * table.pooling;
}

double SizeAndLookups(const model::TableGroup& table) {
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

namespace {

constexpr std::array kSharders = {
    Sharder{.name = "naive",
            .help = "table i to rank i mod n",
            .run = ShardNaively},
    Sharder{.name = "chunk",
            .help = "neighbouring tables together",
            .run = ShardInChunks},
    Sharder{.name = "random",
            .help = "tables to any rank with room",
            .run = ShardRandomly},
    Sharder{.name = "size", .help = "greedy by bytes", .run = ShardBySize},
    Sharder{.name = "lookup",
            .help = "greedy by columns x pooling",
            .run = ShardByLookups},
    Sharder{.name = "size-lookup",
            .help = "greedy by columns x pooling x log10(rows)",
            .run = ShardBySizeAndLookups},
    Sharder{.name = "torchrec",
            .help = "TorchRec's estimate, proposals and partitioner",
            .run = ShardLikeTorchrec},
    Sharder{.name = "greedy",
            .help = "greedy by predicted cost",
            .ours = true,
            .run = ShardGreedily},
    Sharder{.name = "beam",
            .help = "beam search by predicted cost",
            .ours = true,
            .run = ShardByBeam},
    Sharder{.name = "local",
            .help = "local search by predicted cost",
            .ours = true,
            .run = ShardByLocalSearch},
};

}  // namespace

std::span<const Sharder> Sharders() {
  return kSharders;
}

}  // namespace stepcast::plan
