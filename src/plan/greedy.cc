// Tables one after the other, each to where the step grows least: one plan, or
// the best few at a time.
#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "plan/candidates.h"
#include "plan/sharders.h"

namespace stepcast::plan {
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

}  // namespace stepcast::plan
