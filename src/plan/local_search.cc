// Plans made better bit by bit: parts moved away from the ranks that decide the
// step, exchanged with others, or tables divided another way.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "plan/candidates.h"
#include "plan/sharders.h"

namespace stepcast::plan {
namespace {

// Ranks that take part in exchanges with a busy one, those with least to do.
constexpr size_t kPartners = 16;
// Ranks and nodes tried for a table that is divided another way.
constexpr size_t kReshardPlacesTried = 3;
// Tables on all ranks that are tried another way in a round.
constexpr size_t kEverywhereTried = 32;
// Tables that a shake moves.
constexpr uint64_t kMostShaken = 4;
// Evaluations between two looks at the clock.
constexpr int64_t kPatience = 1024;

// A part of a table on a rank, or all of it on a node.
struct Part {
  size_t table = 0;
  size_t place = 0;
};

class LocalSearch {
 public:
  LocalSearch(const Problem& problem, Choices start,
              const SearchOptions& options)
      : problem_(problem),
        options_(options),
        rng_(options.seed),
        candidates_(problem),
        choices_(std::move(start)),
        ledger_(problem, choices_),
        cost_(ledger_.Evaluate()) {}

  Found Run() {
    Descend();
    Choices best = choices_;
    Cost least = cost_;
    while (!Over() && problem_.ranks.count > 1) {
      Shake();
      Descend();
      if (IsBetter(cost_, least)) {
        best = choices_;
        least = cost_;
      } else {
        Reset(best);
      }
    }
    return {
        .choices = std::move(best), .cost = least, .evaluations = evaluations_};
  }

 private:
  bool Over() {
    if (evaluations_ >= options_.evaluations) {
      return true;
    }
    if (evaluations_ >= next_look_) {
      next_look_ = evaluations_ + kPatience;
      stopped_ = stopped_ || options_.stop();
    }
    return stopped_;
  }

  const Option& OptionOf(size_t table) const {
    return problem_.tables[table].options[choices_[table].option];
  }

  void Reset(const Choices& choices) {
    choices_ = choices;
    ledger_ = Ledger(problem_, choices_);
    cost_ = ledger_.Evaluate();
  }

  // The ledger has the change already; true if it stays.
  bool Accept() {
    ++evaluations_;
    const Cost now = ledger_.Evaluate();
    if (!IsBetter(now, cost_)) {
      return false;
    }
    cost_ = now;
    return true;
  }

  // The ranks that decide how long a phase takes, or have too much.
  std::vector<int> BusyRanks() const {
    std::vector<int> busy;
    for (const auto loads : {ledger_.forward_us(), ledger_.backward_us(),
                             ledger_.columns(), ledger_.bytes()}) {
      const auto most =
          static_cast<int>(std::ranges::max_element(loads) - loads.begin());
      if (std::ranges::find(busy, most) == busy.end()) {
        busy.push_back(most);
      }
    }
    return busy;
  }

  // What is on a rank; everything on its node included.
  std::vector<Part> PartsOn(int rank) const {
    std::vector<Part> parts;
    for (size_t table = 0; table < choices_.size(); ++table) {
      const bool node = OptionOf(table).sharding == Sharding::kTableRowWise;
      const int place = node ? rank / problem_.ranks.per_node() : rank;
      const std::vector<int>& places = choices_[table].places;
      for (size_t i = 0; i < places.size(); ++i) {
        if (places[i] == place) {
          parts.push_back({.table = table, .place = i});
        }
      }
    }
    return parts;
  }

  // To each other rank or node, the emptiest first.
  bool TryMoves(const Part& part) {
    Choice& choice = choices_[part.table];
    const bool node = OptionOf(part.table).sharding == Sharding::kTableRowWise;
    const int each = node ? problem_.ranks.per_node() : 1;
    const int from = choice.places[part.place];
    for (const int rank : candidates_.ranks()) {
      const int to = rank / each;
      if (to == from) {
        continue;
      }
      ledger_.Move(part.table, choice, part.place, to);
      choice.places[part.place] = to;
      if (Accept()) {
        return true;
      }
      ledger_.Move(part.table, choice, part.place, from);
      choice.places[part.place] = from;
      if (Over()) {
        return false;
      }
    }
    return false;
  }

  bool TrySwap(const Part& a, const Part& b) {
    Choice& one = choices_[a.table];
    Choice& other = choices_[b.table];
    const int here = one.places[a.place];
    const int there = other.places[b.place];
    const auto exchange = [&](int first, int second) {
      ledger_.Move(a.table, one, a.place, first);
      one.places[a.place] = first;
      ledger_.Move(b.table, other, b.place, second);
      other.places[b.place] = second;
    };
    exchange(there, here);
    if (Accept()) {
      return true;
    }
    exchange(here, there);
    return false;
  }

  bool IsWhole(const Part& part) const {
    return OptionOf(part.table).sharding != Sharding::kTableRowWise;
  }

  bool TrySwaps(const Part& part, int rank) {
    if (!IsWhole(part)) {
      return false;
    }
    size_t partners = 0;
    for (const int other : candidates_.ranks()) {
      if (other == rank || partners == kPartners) {
        continue;
      }
      ++partners;
      for (const Part& theirs : PartsOn(other)) {
        if (!IsWhole(theirs) || theirs.table == part.table) {
          continue;
        }
        if (TrySwap(part, theirs)) {
          return true;
        }
        if (Over()) {
          return false;
        }
      }
    }
    return false;
  }

  bool TryOtherWays(size_t table) {
    const Choice before = choices_[table];
    ledger_.Remove(table, before);
    candidates_.Sort(ledger_,
                     problem_.tables[table].options.front().load.bytes);
    candidates_.Of(table, kReshardPlacesTried, others_);
    for (const Choice& other : others_) {
      ledger_.Add(table, other);
      if (Accept()) {
        choices_[table] = other;
        return true;
      }
      ledger_.Remove(table, other);
      if (Over()) {
        break;
      }
    }
    ledger_.Add(table, before);
    return false;
  }

  bool ImproveRank(int rank) {
    for (const Part& part : PartsOn(rank)) {
      candidates_.Sort(ledger_, OptionOf(part.table).load.bytes);
      if (TryMoves(part) || TryOtherWays(part.table)) {
        return true;
      }
      candidates_.Sort(ledger_, 0);
      if (TrySwaps(part, rank)) {
        return true;
      }
      if (Over()) {
        return false;
      }
    }
    return false;
  }

  // Tables that all ranks have a part of, another way.
  bool ImproveEverywhere() {
    std::vector<size_t> tables;
    for (size_t table = 0; table < choices_.size(); ++table) {
      if (IsEverywhere(OptionOf(table).sharding) &&
          problem_.tables[table].options.size() > 1) {
        tables.push_back(table);
      }
    }
    const size_t tried = std::min(tables.size(), kEverywhereTried);
    const size_t first =
        tables.empty() ? 0 : static_cast<size_t>(rng_.Below(tables.size()));
    for (size_t i = 0; i < tried && !Over(); ++i) {
      if (TryOtherWays(tables[(first + i) % tables.size()])) {
        return true;
      }
    }
    return false;
  }

  void Descend() {
    bool better = true;
    while (better && !Over()) {
      better = false;
      for (const int rank : BusyRanks()) {
        better = ImproveRank(rank);
        if (better || Over()) {
          break;
        }
      }
      better = better || ImproveEverywhere();
    }
  }

  // Some tables any way, anywhere.
  void Shake() {
    const uint64_t count =
        1 + rng_.Below(std::min<uint64_t>(kMostShaken, choices_.size()));
    for (uint64_t i = 0; i < count; ++i) {
      const auto table = static_cast<size_t>(rng_.Below(choices_.size()));
      const Table& item = problem_.tables[table];
      Choice other{.option =
                       static_cast<uint16_t>(rng_.Below(item.options.size()))};
      const Option& option = item.options[other.option];
      const int places = option.sharding == Sharding::kTableRowWise
                             ? problem_.ranks.nodes
                             : problem_.ranks.count;
      for (int part = 0; part < PlacesOf(option); ++part) {
        other.places.push_back(
            static_cast<int>(rng_.Below(static_cast<uint64_t>(places))));
      }
      ledger_.Remove(table, choices_[table]);
      ledger_.Add(table, other);
      choices_[table] = std::move(other);
    }
    ++evaluations_;
    cost_ = ledger_.Evaluate();
  }

  const Problem& problem_;
  const SearchOptions& options_;
  Rng rng_;
  Candidates candidates_;
  Choices choices_;
  Ledger ledger_;
  Cost cost_;
  std::vector<Choice> others_;
  int64_t evaluations_ = 0;
  int64_t next_look_ = 0;
  bool stopped_ = false;
};

}  // namespace

Found Improve(const Problem& problem, const Choices& start,
              const SearchOptions& options) {
  return LocalSearch(problem, start, options).Run();
}

Found ShardByLocalSearch(const Problem& problem, const SearchOptions& options) {
  Found best;
  int64_t evaluations = 0;
  for (const auto sharder :
       {ShardGreedily, ShardBySizeAndLookups, ShardLikeTorchrec}) {
    Found found = sharder(problem, options);
    evaluations += found.evaluations;
    if (best.choices.empty() || IsBetter(found.cost, best.cost)) {
      best = std::move(found);
    }
  }
  best = Improve(problem, best.choices, options);
  best.evaluations += evaluations;
  return best;
}

}  // namespace stepcast::plan
