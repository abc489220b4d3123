#include "plan/problem.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/check.h"

namespace stepcast::plan {
namespace {

constexpr double kPointsAnOctave = 8;

}  // namespace

CostCurve::CostCurve(double most, const std::function<double(double)>& us) {
  const double octaves = std::log2(std::max(most, 2.0));
  const auto points =
      static_cast<size_t>(std::ceil(octaves * kPointsAnOctave)) + 1;
  for (size_t i = 0; i < points; ++i) {
    const double bytes = std::exp2(static_cast<double>(i) / kPointsAnOctave);
    bytes_.push_back(bytes);
    us_.push_back(us(bytes));
  }
}

double CostCurve::Us(double bytes) const {
  if (bytes <= 0 || us_.empty()) {
    return 0;
  }
  if (bytes <= 1) {
    return us_.front();
  }
  // The whole part of the logarithm comes from the number's exponent; which of
  // the octave's points is below is looked up.
  int exponent = 0;
  std::frexp(bytes, &exponent);
  const size_t last = us_.size() - 2;
  size_t at = std::min(
      static_cast<size_t>(exponent - 1) * static_cast<size_t>(kPointsAnOctave),
      last);
  while (at < last && bytes_[at + 1] <= bytes) {
    ++at;
  }
  const double part = (bytes - bytes_[at]) / (bytes_[at + 1] - bytes_[at]);
  return us_[at] + part * (us_[at + 1] - us_[at]);
}

namespace {

// Blocks of rows as TorchRec cuts them: all but the last as large as the first.
void AddRows(const model::TableGroup& table, int first, int ranks,
             std::vector<Shard>& shards) {
  const int64_t block = (table.rows + ranks - 1) / ranks;
  for (int i = 0; i < ranks; ++i) {
    const int64_t row = std::min(block * i, table.rows);
    shards.push_back({.row = row,
                      .rows = std::min(block, table.rows - row),
                      .columns = table.dim,
                      .rank = first + i});
  }
}

TablePlan Write(const Problem& problem, const Table& table,
                const Choice& choice) {
  const Option& option = table.options[choice.option];
  const model::TableGroup& group = table.group;
  TablePlan written{.sharding = option.sharding};
  const int ranks = problem.ranks.count;
  switch (option.sharding) {
    case Sharding::kTableWise:
    case Sharding::kColumnWise: {
      const int64_t width = group.dim / option.shards;
      int64_t column = 0;
      for (const int rank : choice.places) {
        written.shards.push_back({.column = column,
                                  .rows = group.rows,
                                  .columns = width,
                                  .rank = rank});
        column += width;
      }
      break;
    }
    case Sharding::kTableRowWise:
      AddRows(group, choice.places.front() * problem.ranks.per_node(),
              problem.ranks.per_node(), written.shards);
      break;
    case Sharding::kRowWise:
      AddRows(group, 0, ranks, written.shards);
      break;
    case Sharding::kDataParallel:
      for (int rank = 0; rank < ranks; ++rank) {
        written.shards.push_back(
            {.rows = group.rows, .columns = group.dim, .rank = rank});
      }
      break;
  }
  return written;
}

}  // namespace

bool IsEverywhere(Sharding sharding) {
  return sharding == Sharding::kRowWise || sharding == Sharding::kDataParallel;
}

int PlacesOf(const Option& option) {
  if (IsEverywhere(option.sharding)) {
    return 0;
  }
  return option.sharding == Sharding::kTableRowWise ? 1 : option.shards;
}

Plan PlanOf(const Problem& problem, const Choices& choices) {
  CHECK(choices.size() == problem.tables.size());
  Plan plan;
  for (size_t i = 0; i < choices.size(); ++i) {
    plan.tables.push_back(Write(problem, problem.tables[i], choices[i]));
  }
  return plan;
}

}  // namespace stepcast::plan
