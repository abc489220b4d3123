#include "plan/check_plan.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace stepcast::plan {

tl::unexpected<Error> Wrong(std::string message) {
  return Fail(ErrorCode::kInvalidInput, std::move(message));
}

namespace {

// One way through a table: from `begin` on, `size` long.
struct Stretch {
  int64_t begin = 0;
  int64_t size = 0;
};

// Stretches one after the other, from 0 to `end`.
Status CheckCover(std::vector<Stretch> stretches, int64_t end,
                  std::string_view what) {
  std::ranges::sort(stretches, {}, [](const Stretch& stretch) {
    return std::pair(stretch.begin, stretch.size);
  });
  int64_t covered = 0;
  for (const Stretch& stretch : stretches) {
    if (stretch.begin > covered) {
      return Wrong(fmt::format("has {} {} to {} nowhere; expected all {}", what,
                               covered, stretch.begin - 1, end));
    }
    if (stretch.begin < covered && stretch.size > 0) {
      return Wrong(fmt::format("has {} from {} on twice; expected each once",
                               what, stretch.begin));
    }
    covered = std::max(covered, stretch.begin + stretch.size);
  }
  if (covered != end) {
    return Wrong(
        covered < end
            ? fmt::format("has {} {} to {} nowhere; expected all {}", what,
                          covered, end - 1, end)
            : fmt::format("has {} up to {}; expected {}", what, covered, end));
  }
  return {};
}

Status CheckShard(const Shard& shard, const workload::TableGroup& table,
                  const Ranks& ranks) {
  if (shard.rank < 0 || shard.rank >= ranks.count) {
    return Wrong(fmt::format("is on rank {}; expected 0 to {}", shard.rank,
                             ranks.count - 1));
  }
  const bool inside = shard.row >= 0 && shard.column >= 0 && shard.rows >= 0 &&
                      shard.columns >= 0 && shard.row <= table.rows &&
                      shard.column <= table.dim && shard.rows <= table.rows &&
                      shard.columns <= table.dim;
  if (!inside) {
    return Wrong(fmt::format(
        "has a part of {} x {} at ({}, {}); expected it inside {} x {}",
        shard.rows, shard.columns, shard.row, shard.column, table.rows,
        table.dim));
  }
  return {};
}

// One part on every rank from `first` on.
Status CheckEachRank(const TablePlan& plan, int first, int count,
                     std::string_view where) {
  std::vector<int> parts(static_cast<size_t>(count));
  for (const Shard& shard : plan.shards) {
    const int at = shard.rank - first;
    if (at < 0 || at >= count || ++parts[static_cast<size_t>(at)] > 1) {
      return Wrong(
          fmt::format("is {} with another part on rank {}; expected "
                      "one on each rank of {}",
                      Name(plan.sharding), shard.rank, where));
    }
  }
  const auto without = std::ranges::find(parts, 0);
  if (without != parts.end()) {
    return Wrong(fmt::format(
        "is {} without a part on rank {}; expected one on each rank of {}",
        Name(plan.sharding), first + (without - parts.begin()), where));
  }
  return {};
}

Status CheckRows(const TablePlan& plan, const workload::TableGroup& table) {
  std::vector<Stretch> rows;
  for (const Shard& shard : plan.shards) {
    if (shard.rows > 0 && (shard.column != 0 || shard.columns != table.dim)) {
      return Wrong(fmt::format("is {} with a part of {} columns; expected {}",
                               Name(plan.sharding), shard.columns, table.dim));
    }
    rows.push_back({.begin = shard.row, .size = shard.rows});
  }
  return CheckCover(std::move(rows), table.rows, "rows");
}

Status CheckColumns(const TablePlan& plan, const workload::TableGroup& table) {
  std::vector<Stretch> columns;
  for (const Shard& shard : plan.shards) {
    if (shard.row != 0 || shard.rows != table.rows) {
      return Wrong(fmt::format("is {} with a part of {} rows; expected {}",
                               Name(plan.sharding), shard.rows, table.rows));
    }
    if (shard.columns == 0) {
      return Wrong("has a part without columns; expected 1 or more");
    }
    columns.push_back({.begin = shard.column, .size = shard.columns});
  }
  return CheckCover(std::move(columns), table.dim, "columns");
}

}  // namespace

Status CheckTable(const TablePlan& plan, const workload::TableGroup& table,
                  const Ranks& ranks) {
  if (plan.shards.empty()) {
    return Wrong("is nowhere; expected parts on ranks");
  }
  for (const Shard& shard : plan.shards) {
    RETURN_IF_ERROR(CheckShard(shard, table, ranks));
  }
  switch (plan.sharding) {
    case Sharding::kTableWise:
      if (plan.shards.size() > 1) {
        return Wrong(fmt::format("is table_wise in {} parts; expected one",
                                 plan.shards.size()));
      }
      [[fallthrough]];
    case Sharding::kColumnWise:
      return CheckColumns(plan, table);
    case Sharding::kRowWise:
      RETURN_IF_ERROR(CheckEachRank(plan, 0, ranks.count, "the job"));
      return CheckRows(plan, table);
    case Sharding::kTableRowWise: {
      const int first =
          plan.shards.front().rank / ranks.per_node() * ranks.per_node();
      RETURN_IF_ERROR(CheckEachRank(plan, first, ranks.per_node(), "one node"));
      return CheckRows(plan, table);
    }
    case Sharding::kDataParallel:
      return CheckEachRank(plan, 0, ranks.count, "the job");
  }
  return {};
}

Result<std::vector<Shard>> ShardsOn(const std::vector<int>& on,
                                    Sharding sharding,
                                    const workload::TableGroup& table,
                                    const Ranks& ranks) {
  std::vector<int> places = on;
  if (places.empty() &&
      (sharding == Sharding::kRowWise || sharding == Sharding::kDataParallel)) {
    for (int rank = 0; rank < ranks.count; ++rank) {
      places.push_back(rank);
    }
  }
  if (places.empty()) {
    return Wrong("is nowhere; expected ranks or shards");
  }
  const auto count = static_cast<int64_t>(places.size());
  const int64_t block = (table.rows + count - 1) / count;
  const int64_t width = (table.dim + count - 1) / count;
  std::vector<Shard> shards;
  for (int64_t i = 0; i < count; ++i) {
    Shard shard{.rows = table.rows,
                .columns = table.dim,
                .rank = places[static_cast<size_t>(i)]};
    if (sharding == Sharding::kColumnWise) {
      shard.column = std::min(i * width, table.dim);
      shard.columns = std::min(width, table.dim - shard.column);
    } else if (sharding == Sharding::kRowWise ||
               sharding == Sharding::kTableRowWise) {
      shard.row = std::min(i * block, table.rows);
      shard.rows = std::min(block, table.rows - shard.row);
    }
    shards.push_back(shard);
  }
  return shards;
}

}  // namespace stepcast::plan
