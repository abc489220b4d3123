#include "plan/why_not.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/units.h"
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
          "shared out",
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
  why.ways.push_back(fmt::format("{:.2f} GB a GPU with the nearest plan",
                                 (fullest + problem.other_bytes) / kGiga));
  return why;
}

}  // namespace stepcast::plan
