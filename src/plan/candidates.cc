#include "plan/candidates.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace stepcast::plan {
namespace {

// Parts of a choice: one a rank.
double PartsOf(const Option& option) {
  return option.shards;
}

}  // namespace

Candidates::Candidates(const Problem& problem)
    : problem_(problem),
      ranks_(static_cast<size_t>(problem.ranks.count)),
      nodes_(static_cast<size_t>(problem.ranks.nodes)),
      loads_(ranks_.size()) {
  std::iota(ranks_.begin(), ranks_.end(), 0);
  std::iota(nodes_.begin(), nodes_.end(), 0);
  double columns = 0;
  for (const Table& table : problem.tables) {
    columns += static_cast<double>(table.group.dim);
  }
  // The slope of both exchanges where columns are spread evenly.
  const double ranks = problem.ranks.count;
  const double bytes =
      static_cast<double>(problem.batch) * problem.element_bytes * (ranks - 1);
  const double even = columns / ranks;
  if (even > 0) {
    column_us_ = 2 *
                 (problem.exchanges.to_samples.Us(2 * even * bytes) -
                  problem.exchanges.to_samples.Us(even * bytes)) /
                 even;
  }
}

void Candidates::Sort(const Ledger& ledger, double bytes) {
  // Far above any load, so that ranks with room come first.
  constexpr double kNoRoom = 1e18;
  for (size_t rank = 0; rank < loads_.size(); ++rank) {
    const double room = problem_.capacity_bytes - ledger.bytes()[rank] -
                        ledger.bytes_everywhere();
    loads_[rank] = ledger.forward_us()[rank] + ledger.backward_us()[rank] +
                   column_us_ * ledger.columns()[rank] +
                   (room < bytes ? kNoRoom : 0);
  }
  const auto load = [&](int rank) { return loads_[static_cast<size_t>(rank)]; };
  std::ranges::sort(ranks_, [&](int a, int b) {
    return std::pair(load(a), a) < std::pair(load(b), b);
  });
  const int each = problem_.ranks.per_node();
  const auto of_node = [&](int node) {
    double most = 0;
    for (int i = 0; i < each; ++i) {
      most = std::max(most, load(node * each + i));
    }
    return most;
  };
  std::ranges::sort(nodes_, [&](int a, int b) {
    return std::pair(of_node(a), a) < std::pair(of_node(b), b);
  });
}

void Candidates::Of(size_t table, size_t most,
                    std::vector<Choice>& choices) const {
  choices.clear();
  const std::vector<Option>& options = problem_.tables[table].options;
  const auto preferred = [&](const Option& option) {
    return std::ranges::find(ways_, option.sharding) != ways_.end();
  };
  const bool any = std::ranges::any_of(options, preferred);
  for (size_t i = 0; i < options.size(); ++i) {
    if (any && !preferred(options[i])) {
      continue;
    }
    const auto number = static_cast<uint16_t>(i);
    switch (options[i].sharding) {
      case Sharding::kTableWise:
        for (size_t at = 0; at < std::min(most, ranks_.size()); ++at) {
          choices.push_back({.option = number, .places = {ranks_[at]}});
        }
        break;
      case Sharding::kColumnWise:
        choices.push_back(
            {.option = number,
             .places = {ranks_.begin(), ranks_.begin() + options[i].shards}});
        break;
      case Sharding::kTableRowWise:
        for (size_t at = 0; at < std::min(most, nodes_.size()); ++at) {
          choices.push_back({.option = number, .places = {nodes_[at]}});
        }
        break;
      case Sharding::kRowWise:
      case Sharding::kDataParallel:
        choices.push_back({.option = number});
        break;
    }
  }
}

std::vector<size_t> HeaviestFirst(const Problem& problem) {
  std::vector<size_t> order(problem.tables.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](size_t table) {
    const Option& option = problem.tables[table].options.front();
    return (option.load.forward_us + option.load.backward_us) * PartsOf(option);
  });
  return order;
}

RankSums LeastOf(const Table& table) {
  RankSums least{.forward_us = std::numeric_limits<double>::infinity()};
  for (const Option& option : table.options) {
    const double parts = PartsOf(option);
    const ShardLoad& load = option.load;
    if ((load.forward_us + load.backward_us) * parts <
        least.forward_us + least.backward_us) {
      least = {.forward_us = load.forward_us * parts,
               .backward_us = load.backward_us * parts,
               .bytes = load.bytes * parts,
               .columns = PlacesOf(option) == option.shards
                              ? load.columns * parts
                              : 0};
    }
  }
  return least;
}

}  // namespace stepcast::plan
