#include "plan/find_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/parallel.h"
#include "base/rng.h"
#include "base/text/nearest.h"
#include "base/units.h"
#include "model/tables/table_assignment.h"
#include "plan/candidates.h"
#include "plan/ledger.h"

namespace stepcast::plan {
namespace {

// Bytes of each part of a table, in the way that takes a rank least.
const Option& SmallestOf(const Table& table) {
  return *std::ranges::min_element(table.options, {}, [](const Option& option) {
    return option.load.bytes;
  });
}

// Bytes of all parts, in the way that takes least in sum.
double LeastBytes(const Table& table) {
  double least = std::numeric_limits<double>::infinity();
  for (const Option& option : table.options) {
    least = std::min(least, option.load.bytes * option.shards);
  }
  return least;
}

double FullestRank(const Problem& problem, const Choices& choices) {
  const Ledger ledger(problem, choices);
  return *std::ranges::max_element(ledger.bytes()) + ledger.bytes_everywhere();
}

bool Allows(const Table& table, Sharding sharding) {
  return std::ranges::find(table.options, sharding, &Option::sharding) !=
         table.options.end();
}

}  // namespace

std::string WhyNot::Text(const Problem& problem) const {
  const double over = over_bytes / kGiga;
  const double room = problem.capacity_bytes / kGiga;
  switch (binding) {
    case Binding::kOtherMemory:
      return fmt::format(
          "the step needs {:.2f} GB more than a GPU has without "
          "any table",
          over);
    case Binding::kTable:
      return fmt::format(
          "table {} needs {:.2f} GB more on a rank than the "
          "{:.2f} GB there are for tables, whichever way it is "
          "sharded",
          table, over, room);
    case Binding::kTotal:
      return fmt::format(
          "all tables together need {:.2f} GB more than the {} "
          "x {:.2f} GB there are for them",
          over, problem.ranks.count, room);
    case Binding::kRank:
      return fmt::format(
          "the fullest rank of the nearest plan has {:.2f} GB "
          "more than the {:.2f} GB there are for tables",
          over, room);
  }
  return "";
}

WhyNot FindWhyNot(const Problem& problem, const Choices& nearest) {
  WhyNot why;
  const double capacity = problem.capacity_bytes;
  const double fullest = FullestRank(problem, nearest);
  double total = 0;
  for (const Table& table : problem.tables) {
    total += LeastBytes(table);
    const double part = SmallestOf(table).load.bytes;
    if (part - capacity > why.over_bytes) {
      why.binding = Binding::kTable;
      why.over_bytes = part - capacity;
      why.table = table.name;
      why.ways.clear();
      if (!Allows(table, Sharding::kRowWise) && problem.ranks.count > 1) {
        why.ways.push_back(fmt::format("{} row_wise as well", table.name));
      }
    }
  }
  if (capacity <= 0) {
    why = {.binding = Binding::kOtherMemory, .over_bytes = -capacity};
    why.ways.emplace_back("a smaller batch");
  } else if (why.table.empty() && total > capacity * problem.ranks.count) {
    why.binding = Binding::kTotal;
    why.over_bytes = total - capacity * problem.ranks.count;
    why.ways.push_back(fmt::format("{:.0f} GPUs", std::ceil(total / capacity)));
  } else if (why.table.empty()) {
    why.over_bytes = fullest - capacity;
  }
  why.ways.push_back(fmt::format("{:.2f} GB per GPU with the nearest plan",
                                 (fullest + problem.other_bytes) / kGiga));
  return why;
}

Simulate MakeSimulator(const engine::Request& request, double capacity_bytes) {
  return [&request, capacity_bytes,
          tables = model::SingleTables(request.model.tables)](
             const Plan& plan) -> Result<Simulated> {
    engine::Request sharded = request;
    const engine::Machine& machine = request.machine;
    if (machine.ranks > 1) {
      sharded.assignment = AssignmentOf(
          plan, tables, {.count = machine.ranks, .nodes = machine.nodes});
    }
    ASSIGN_OR_RETURN(const engine::ModelPrediction predicted,
                     engine::PredictModel(sharded, {}));
    return Simulated{.step = predicted.result.step,
                     .hbm_bytes = predicted.memory.total(),
                     .fits = predicted.memory.total() <= capacity_bytes};
  };
}

namespace {

// Local searches from the plans that cost least, and the name of the best.
constexpr size_t kSearches = 4;
constexpr std::string_view kLocal = "local";
// What plans are compared to.
constexpr std::string_view kIncumbent = "torchrec";

Result<std::vector<const Sharder*>> PickSharders(
    const std::vector<std::string>& names) {
  std::vector<const Sharder*> picked;
  std::vector<std::string_view> known;
  for (const Sharder& sharder : Sharders()) {
    known.push_back(sharder.name);
    if (names.empty()) {
      picked.push_back(&sharder);
    }
  }
  for (const std::string& name : names) {
    const auto found = std::ranges::find(Sharders(), name, &Sharder::name);
    if (found == Sharders().end()) {
      known.emplace_back("all");
      return Fail(ErrorCode::kInvalidInput, Unknown("sharder", name, known));
    }
    picked.push_back(&*found);
  }
  return picked;
}

class Finder {
 public:
  Finder(const Problem& problem, const Simulate& simulate,
         const FindOptions& options)
      : problem_(problem), simulate_(simulate), options_(options) {}

  Result<FoundPlans> Run() {
    ASSIGN_OR_RETURN(const auto sharders, PickSharders(options_.sharders));
    options_.on_progress("plans by cost");
    found_.candidates.resize(sharders.size());
    ParallelFor(sharders.size(), options_.threads, [&](size_t i) {
      Found found = sharders[i]->run(problem_, options_.search);
      found_.candidates[i] = {.sharder = std::string(sharders[i]->name),
                              .choices = std::move(found.choices),
                              .cost = found.cost,
                              .evaluations = found.evaluations};
    });
    for (const Candidate& candidate : found_.candidates) {
      found_.evaluations += candidate.evaluations;
    }
    if (options_.sharders.empty()) {
      SearchOn();
    }
    RETURN_IF_ERROR(SimulateBest());
    if (options_.trials > 0) {
      RETURN_IF_ERROR(ImproveOnSimulator());
    }
    found_.stopped = options_.search.stop();
    return std::move(found_);
  }

 private:
  // Indices, the best by cost first.
  std::vector<size_t> ByCost() const {
    std::vector<size_t> order(found_.candidates.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t i) {
      const Cost& cost = found_.candidates[i].cost;
      return std::tuple(cost.over_bytes, cost.us, cost.tie);
    });
    return order;
  }

  // Local search from the best plans, each with a seed of its own.
  void SearchOn() {
    std::vector<size_t> order = ByCost();
    order.resize(std::min(order.size(), kSearches));
    std::vector<Found> found(order.size());
    ParallelFor(order.size(), options_.threads, [&](size_t i) {
      SearchOptions search = options_.search;
      search.seed += i + 1;
      found[i] = Improve(problem_, found_.candidates[order[i]].choices, search);
    });
    const auto local =
        std::ranges::find(found_.candidates, kLocal, &Candidate::sharder);
    for (Found& better : found) {
      found_.evaluations += better.evaluations;
      local->evaluations += better.evaluations;
      if (IsBetter(better.cost, local->cost)) {
        local->cost = better.cost;
        local->choices = std::move(better.choices);
      }
    }
  }

  Status SimulateOne(Candidate& candidate) {
    ASSIGN_OR_RETURN(candidate.simulated,
                     simulate_(PlanOf(problem_, candidate.choices)));
    ++found_.simulations;
    return {};
  }

  Status SimulateBest() {
    size_t simulated = 0;
    for (const size_t i : ByCost()) {
      Candidate& candidate = found_.candidates[i];
      const bool enough = simulated >= options_.most_simulated &&
                          candidate.sharder != kIncumbent;
      if (simulated > 0 && (enough || options_.search.stop())) {
        continue;
      }
      const auto alike =
          std::ranges::find_if(found_.candidates, [&](const Candidate& other) {
            return other.simulated && other.choices == candidate.choices;
          });
      if (alike != found_.candidates.end()) {
        candidate.simulated = alike->simulated;
        continue;
      }
      options_.on_progress(
          fmt::format("simulating the plan of {}", candidate.sharder));
      RETURN_IF_ERROR(SimulateOne(candidate));
      ++simulated;
    }
    found_.best = BestOf(found_.candidates);
    return {};
  }

  // One table of the best plan another way, or two exchanged, if that costs
  // hardly more: the simulator may see it otherwise.
  Choices Changed(const Choices& choices, Rng& rng) const {
    Choices changed = choices;
    Candidates candidates(problem_);
    const auto table = static_cast<size_t>(rng.Below(choices.size()));
    Ledger ledger(problem_, choices);
    ledger.Remove(table, choices[table]);
    candidates.Sort(ledger, problem_.tables[table].options.front().load.bytes);
    std::vector<Choice> others;
    constexpr size_t kPlaces = 3;
    candidates.Of(table, kPlaces, others);
    changed[table] = rng.Pick(others);
    return changed;
  }

  Status ImproveOnSimulator() {
    constexpr double kMostCost = 1.05;
    // A change has to gain as much: the simulator is not as exact as to tell
    // smaller ones from chance.
    constexpr double kWorthIt = 0.995;
    Candidate best = found_.candidates[found_.best];
    if (!best.simulated) {
      return {};
    }
    best.sharder = "simulator";
    Rng rng(options_.search.seed);
    bool better = false;
    int64_t left = int64_t{20} * options_.trials;  // Changes looked at.
    for (int trial = 0; trial < options_.trials && left > 0; --left) {
      if (options_.search.stop()) {
        break;
      }
      Candidate other{.sharder = best.sharder,
                      .choices = Changed(best.choices, rng),
                      .evaluations = 0};
      other.cost = Ledger(problem_, other.choices).Evaluate();
      ++found_.evaluations;
      if (other.choices == best.choices ||
          other.cost.us > kMostCost * best.cost.us ||
          other.cost.over_bytes > best.cost.over_bytes) {
        continue;
      }
      ++trial;
      options_.on_progress(
          fmt::format("change {} of {} simulated", trial, options_.trials));
      RETURN_IF_ERROR(SimulateOne(other));
      if (IsBetter(other, best) &&
          other.simulated->step < kWorthIt * best.simulated->step) {
        best = std::move(other);
        better = true;
      }
    }
    if (better) {
      found_.candidates.push_back(std::move(best));
      found_.best = found_.candidates.size() - 1;
    }
    return {};
  }

  const Problem& problem_;
  const Simulate& simulate_;
  const FindOptions& options_;
  FoundPlans found_;
};

}  // namespace

bool IsBetter(const Candidate& a, const Candidate& b) {
  if (a.simulated.has_value() != b.simulated.has_value()) {
    return a.simulated.has_value();
  }
  if (!a.simulated) {
    return IsBetter(a.cost, b.cost);
  }
  const auto key = [](const Candidate& candidate) {
    return std::tuple(
        candidate.simulated->fits ? 0 : 1,
        candidate.simulated->fits ? 0.0 : candidate.simulated->hbm_bytes,
        candidate.simulated->step);
  };
  return key(a) < key(b);
}

size_t BestOf(const std::vector<Candidate>& candidates) {
  // Steps that differ by less come out of the order of equal times.
  constexpr double kSame = 1.001;
  size_t best = 0;
  for (size_t i = 1; i < candidates.size(); ++i) {
    best = IsBetter(candidates[i], candidates[best]) ? i : best;
  }
  const Candidate& fastest = candidates[best];
  if (!fastest.simulated || !fastest.simulated->fits) {
    return best;
  }
  for (size_t i = 0; i < candidates.size(); ++i) {
    const auto& simulated = candidates[i].simulated;
    if (simulated && simulated->fits &&
        simulated->step <= kSame * fastest.simulated->step &&
        candidates[i].cost.tie < candidates[best].cost.tie) {
      best = i;
    }
  }
  return best;
}

Result<FoundPlans> FindPlans(const Problem& problem, const Simulate& simulate,
                             const FindOptions& options) {
  return Finder(problem, simulate, options).Run();
}

}  // namespace stepcast::plan
