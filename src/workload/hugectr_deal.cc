#include "workload/hugectr_deal.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "workload/embedding_stats.h"

namespace stepcast::workload {
namespace {

// The planner of MLPerf v3.1 and later puts tables below this on every rank.
constexpr int64_t kSmallTableBytes = 8'000'000;

// The hybrid embedding (HugeCTR user guide, HybridEmbeddingParam; values of its
// DLRM sample and of MLPerf v1.0 to v2.1). On one node a row is hot if a rank's
// batch has it more than once with this probability (p_dup_max = 0.01): uses
// are Poisson distributed, 1 - (1 + u) e^-u = 0.01 for a mean of u.
constexpr double kHotUsesOnANode = 0.1486;
// On several, if an all-to-all of its vectors and their gradients takes longer
// than the all-reduce of its gradient. Of u uses a rank's batch, each rank
// sends u vectors and gets u gradients at 190 GB/s (max_all_to_all_bandwidth);
// the sum passes each rank twice at 130 GB/s (max_all_reduce_bandwidth).
constexpr double kHotUsesOverNodes = 190.0 / 130.0;

bool OneHot(const Model& model) {
  return std::ranges::all_of(
      model.tables, [](const TableGroup& group) { return group.pooling == 1; });
}

TableDeal DealHotRows(const Model& model, const HugectrJob& job) {
  TableDeal deal{.hot_rows = true};
  const double uses = job.nodes > 1 ? kHotUsesOverNodes : kHotUsesOnANode;
  for (const TableGroup& table : model.tables) {
    TableGroup hot = table;
    if (table.ids.kind == IdKind::kUnknown) {
      hot.ids = {.kind = IdKind::kZipf, .alpha = kClickLogAlpha};
    }
    const EmbeddingStats stats(hot.ids, table.rows, job.seed);
    const RowShare most =
        stats.RowsAbove(uses / static_cast<double>(job.batch));
    hot.rows = std::min<int64_t>(std::llround(most.rows), table.rows);
    hot.pooling = most.lookups;
    TableGroup cold = table;
    cold.rows -= hot.rows;
    cold.pooling -= hot.pooling;
    cold.ids = {.kind = IdKind::kUniform};
    if (hot.rows > 0 && hot.pooling > 0) {
      deal.replicated.push_back(std::move(hot));
    }
    if (cold.rows > 0 && cold.pooling > 0) {
      deal.split.push_back(std::move(cold));
    }
  }
  return deal;
}

struct BySize {
  std::vector<TableGroup> small{};
  std::vector<TableGroup> large{};
  double traffic = 0;  // Of the large ones.
};

BySize Sort(const Model& model) {
  BySize sorted;
  for (const TableGroup& table : SingleTables(model.tables)) {
    if (ElementsOf(table) * kFp32Bytes < kSmallTableBytes) {
      sorted.small.push_back(table);
    } else {
      sorted.traffic += TrafficOf(table);
      sorted.large.push_back(table);
    }
  }
  return sorted;
}

// A table in parts of as many rows.
struct Parts {
  TableGroup part{};
  int64_t count = 1;
};

// Parts that a table is cut into so that none is more than a node's share:
// 1, 2, 4, ..., as far as there are nodes and rows.
int64_t NodesFor(const TableGroup& table, double share, int64_t nodes) {
  int64_t parts = 1;
  while (TrafficOf(table) > share * static_cast<double>(parts) &&
         2 * parts <= nodes && 2 * parts <= table.rows) {
    parts *= 2;
  }
  return parts;
}

// The heaviest parts first, those of one table to as many nodes, which have
// least so far.
TableDeal DealToNodes(const BySize& tables, const HugectrJob& job) {
  TableDeal deal{.replicated = tables.small,
                 .ranks_per_node = job.world / job.nodes};
  deal.node_split.resize(static_cast<size_t>(job.nodes));
  const double share = tables.traffic / static_cast<double>(job.nodes);
  std::vector<Parts> all;
  for (const TableGroup& table : tables.large) {
    Parts parts{.part = table, .count = NodesFor(table, share, job.nodes)};
    parts.part.rows = (table.rows + parts.count - 1) / parts.count;
    parts.part.pooling = table.pooling / static_cast<double>(parts.count);
    all.push_back(std::move(parts));
  }
  std::ranges::stable_sort(all, std::greater<>(), [](const Parts& parts) {
    return TrafficOf(parts.part);
  });
  std::vector<double> traffic(deal.node_split.size());
  std::vector<size_t> nodes(traffic.size());
  std::iota(nodes.begin(), nodes.end(), size_t{0});
  for (const Parts& parts : all) {
    std::ranges::stable_sort(nodes, {},
                             [&](size_t node) { return traffic[node]; });
    for (size_t i = 0; i < static_cast<size_t>(parts.count); ++i) {
      deal.node_split[nodes[i]].push_back(parts.part);
      traffic[nodes[i]] += TrafficOf(parts.part);
    }
  }
  return deal;
}

TableDeal DealToRanks(BySize tables, int64_t world) {
  TableDeal deal{.replicated = std::move(tables.small)};
  std::vector<TableGroup> whole;
  for (TableGroup& table : tables.large) {
    const bool hot =
        TrafficOf(table) * static_cast<double>(world) > tables.traffic;
    (hot && table.rows >= world ? deal.split : whole)
        .push_back(std::move(table));
  }
  const int64_t any = std::ssize(whole) + 1;
  deal.local = DealGreedily(std::move(whole), world, TrafficOf, any);
  return deal;
}

}  // namespace

TableDeal DealLikeHugectr(const Model& model, const HugectrJob& job) {
  if (OneHot(model)) {
    return DealHotRows(model, job);
  }
  const BySize tables = Sort(model);
  return job.nodes > 1 ? DealToNodes(tables, job)
                       : DealToRanks(tables, job.world);
}

}  // namespace stepcast::workload
