// What TorchRec's EmbeddingShardingPlanner does: proposals, from the option of
// each table that it thinks fastest on, each partitioned greedily; the plan
// whose slowest rank it thinks fastest.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "plan/sharders.h"
#include "plan/torchrec_perf.h"

namespace stepcast::plan {
namespace {

// Proposals tried, and tried while none fits. TorchRec goes on to the last
// option of every table, by far most of which it thinks slower.
constexpr int kProposals = 100;
constexpr int kProposalsToFit = 2000;

// An option as TorchRec sees it.
struct Rated {
  uint16_t option = 0;
  double shard_ms = 0;  // Of each part.
  double total_ms = 0;  // Of all parts.
};

// What the ranks have so far.
struct Devices {
  std::vector<double> ms{};
  std::vector<double> bytes{};
};

class Planner {
 public:
  explicit Planner(const Problem& problem) : problem_(problem) {
    for (const Table& table : problem.tables) {
      std::vector<Rated> rated;
      for (size_t i = 0; i < table.options.size(); ++i) {
        const double ms =
            EstimateLikeTorchrec(problem, table, table.options[i]).total();
        rated.push_back({.option = static_cast<uint16_t>(i),
                         .shard_ms = ms,
                         .total_ms = ms * table.options[i].shards});
      }
      std::ranges::stable_sort(rated, {}, &Rated::total_ms);
      rated_.push_back(std::move(rated));
    }
    picked_.assign(rated_.size(), 0);
  }

  Choices Run() {
    Choices best;
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < (std::isinf(least) ? kProposalsToFit : kProposals);
         ++i) {
      Choices choices(rated_.size());
      const double ms = Partition(choices);
      if (best.empty() || ms < least) {
        least = ms;
        best = std::move(choices);
      }
      if (!Advance()) {
        break;
      }
    }
    return best;
  }

 private:
  const Rated& Picked(size_t table) const {
    return rated_[table][picked_[table]];
  }
  const Option& OptionOf(size_t table) const {
    return problem_.tables[table].options[Picked(table).option];
  }

  // The next option of the table whose next option is the fastest.
  bool Advance() {
    size_t best = rated_.size();
    double least = std::numeric_limits<double>::infinity();
    for (size_t table = 0; table < rated_.size(); ++table) {
      const size_t next = picked_[table] + 1;
      if (next < rated_[table].size() && rated_[table][next].total_ms < least) {
        least = rated_[table][next].total_ms;
        best = table;
      }
    }
    if (best == rated_.size()) {
      return false;
    }
    ++picked_[best];
    return true;
  }

  void Put(Devices& devices, size_t table, int rank) const {
    devices.ms[static_cast<size_t>(rank)] += Picked(table).shard_ms;
    devices.bytes[static_cast<size_t>(rank)] += OptionOf(table).load.bytes;
  }

  // The first of `count` devices, or groups of as many each, with the least
  // time among those with room; with no room, the emptiest.
  int FindPlace(const Devices& devices, int count, double bytes) const {
    const int each = problem_.ranks.count / count;
    int best = 0;
    bool has_room = false;
    for (int place = 0; place < count; ++place) {
      const int first = place * each;
      const int first_now = best * each;
      const auto at = static_cast<size_t>(first);
      const auto now = static_cast<size_t>(first_now);
      const bool room = devices.bytes[at] + bytes <= problem_.capacity_bytes;
      const bool less = room ? devices.ms[at] < devices.ms[now]
                             : devices.bytes[at] < devices.bytes[now];
      if ((room && !has_room) || (room == has_room && less)) {
        best = place;
        has_room = room;
      }
    }
    return best;
  }

  // Parts on all ranks first, then the largest. Infinite if it does not fit.
  double Partition(Choices& choices) const {
    const auto ranks = static_cast<size_t>(problem_.ranks.count);
    Devices devices{.ms = std::vector<double>(ranks),
                    .bytes = std::vector<double>(ranks)};
    std::vector<size_t> order;
    for (size_t table = 0; table < rated_.size(); ++table) {
      choices[table].option = Picked(table).option;
      if (!IsEverywhere(OptionOf(table).sharding)) {
        order.push_back(table);
        continue;
      }
      for (int rank = 0; rank < problem_.ranks.count; ++rank) {
        Put(devices, table, rank);
      }
    }
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](size_t table) {
      return std::pair(
          OptionOf(table).sharding == Sharding::kTableRowWise ? 1 : 0,
          OptionOf(table).load.bytes * OptionOf(table).shards);
    });
    for (const size_t table : order) {
      const Option& option = OptionOf(table);
      const bool node = option.sharding == Sharding::kTableRowWise;
      for (int part = 0; part < PlacesOf(option); ++part) {
        const int place = FindPlace(
            devices, node ? problem_.ranks.nodes : problem_.ranks.count,
            option.load.bytes);
        choices[table].places.push_back(place);
        const int each = node ? problem_.ranks.per_node() : 1;
        for (int i = 0; i < each; ++i) {
          Put(devices, table, place * each + i);
        }
      }
    }
    return *std::ranges::max_element(devices.bytes) > problem_.capacity_bytes
               ? std::numeric_limits<double>::infinity()
               : *std::ranges::max_element(devices.ms);
  }

  const Problem& problem_;
  std::vector<std::vector<Rated>> rated_;  // Table by table, fastest first.
  std::vector<size_t> picked_;
};

}  // namespace

Found ShardLikeTorchrec(const Problem& problem,
                        const SearchOptions& /*options*/) {
  Found found{.choices = Planner(problem).Run(), .evaluations = 1};
  found.cost = Ledger(problem, found.choices).Evaluate();
  return found;
}

}  // namespace stepcast::plan
