#include "model/tables/sharding.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text/nearest.h"
#include "model/frameworks/exchange.h"
#include "model/frameworks/implementations.h"
#include "model/model.h"
#include "model/shapes.h"
#include "model/tables/embedding_stats.h"
#include "model/tables/table_assignment.h"

namespace stepcast::model {
namespace {

// How HugeCTR shares a model's tables out to ranks and nodes.

struct HugectrJob {
  int64_t batch = 0;  // Of a rank.
  int64_t world = 1;
  int64_t nodes = 1;
  uint64_t seed = 1;
};

// The planner of MLPerf v3.1 and later puts tables below this on every rank.
constexpr int64_t kSmallTableBytes = 8'000'000;

// The hybrid embedding (HugeCTR user guide, HybridEmbeddingParam; values of its
// DLRM sample and of MLPerf v1.0 to v2.1). A row is hot on one node if a rank's
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

TableAssignment AssignHotRows(const Model& model, const HugectrJob& job) {
  TableAssignment assignment{.hot_rows = true};
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
      assignment.replicated.push_back(std::move(hot));
    }
    if (cold.rows > 0 && cold.pooling > 0) {
      assignment.split.push_back(std::move(cold));
    }
  }
  return assignment;
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
TableAssignment AssignToNodes(const BySize& tables, const HugectrJob& job) {
  TableAssignment assignment{.replicated = tables.small,
                             .ranks_per_node = job.world / job.nodes};
  assignment.node_split.resize(static_cast<size_t>(job.nodes));
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
  std::vector<double> traffic(assignment.node_split.size());
  std::vector<size_t> nodes(traffic.size());
  std::iota(nodes.begin(), nodes.end(), size_t{0});
  for (const Parts& parts : all) {
    std::ranges::stable_sort(nodes, {},
                             [&](size_t node) { return traffic[node]; });
    for (size_t i = 0; i < static_cast<size_t>(parts.count); ++i) {
      assignment.node_split[nodes[i]].push_back(parts.part);
      traffic[nodes[i]] += TrafficOf(parts.part);
    }
  }
  return assignment;
}

TableAssignment AssignToRanks(BySize tables, int64_t world) {
  TableAssignment assignment{.replicated = std::move(tables.small)};
  std::vector<TableGroup> whole;
  for (TableGroup& table : tables.large) {
    const bool hot =
        TrafficOf(table) * static_cast<double>(world) > tables.traffic;
    (hot && table.rows >= world ? assignment.split : whole)
        .push_back(std::move(table));
  }
  const int64_t any = std::ssize(whole) + 1;
  assignment.local = AssignGreedily(std::move(whole), world, TrafficOf, any);
  return assignment;
}

TableAssignment AssignLikeHugectr(const Model& model, const HugectrJob& job) {
  if (OneHot(model)) {
    return AssignHotRows(model, job);
  }
  const BySize tables = Sort(model);
  return job.nodes > 1 ? AssignToNodes(tables, job)
                       : AssignToRanks(tables, job.world);
}

// NVIDIA's placement leaves the rank of the bottom MLP without tables if there
// are more ranks than this (PyTorch/Recommendation/DLRM, utils/distributed).
constexpr int64_t kFewRanks = 4;

// Merlin distributed-embeddings, as NVIDIA's TensorFlow DLRM sets it: tables
// with more numbers are cut into 2, 4, 8 ... columns.
constexpr double kMostElements = 5e9;

// TorchRec's planner counts on this memory of a GPU if nobody says otherwise
// (planner/constants.py): a table that does not fit is split by rows.
constexpr int64_t kDeviceBytes = int64_t{32} << 30;

// What a table on every rank moves for each of its rows: its gradient cleared,
// written, twice over the wire in an all-reduce, then read and applied; and
// what a table on one rank moves for each sample: a vector there, its gradient
// back. Counted with the 8-rank DLRM trace in view, where ranks of 16 samples
// all have the tables of 3 and 4 rows but not the one of 10.
constexpr int64_t kPassesOfGradient = 6;
constexpr int64_t kPassesOfVector = 2;

// What a rule goes by.
struct Job {
  const Model& model;
  int64_t batch = 0;  // Of a rank.
  int64_t world = 1;
  int64_t nodes = 1;
  uint64_t seed = 1;
};

TableAssignment Replicate(const Job& job) {
  return {.replicated = job.model.tables};
}

// Bin-packed by size, as many tables as possible alike on each rank.
TableAssignment AssignNvidia(const Job& job) {
  const bool apart = job.world > kFewRanks;
  const int64_t ranks = job.world - (apart ? 1 : 0);
  const std::vector<TableGroup> tables = SingleTables(job.model.tables);
  TableAssignment assignment{
      .local = AssignGreedily(tables, ranks, ElementsOf,
                              (std::ssize(tables) + ranks - 1) / ranks),
      .bottom_on_first = true};
  if (apart) {
    assignment.local.insert(assignment.local.begin(),
                            std::vector<TableGroup>{});
  }
  return assignment;
}

// Greedy by the planner's cost. The planner assumes one id per sample unless
// the user gives another number, so the cost is that of the vectors.
TableAssignment AssignTorchrec(const Job& job) {
  TableAssignment assignment;
  std::vector<TableGroup> whole;
  for (const TableGroup& table : SingleTables(job.model.tables)) {
    if (table.rows * kPassesOfGradient < job.batch * kPassesOfVector) {
      assignment.replicated.push_back(table);
    } else if (ElementsOf(table) * kFp32Bytes > kDeviceBytes) {
      assignment.split.push_back(table);
    } else {
      whole.push_back(table);
    }
  }
  const int64_t any = std::ssize(whole) + 1;
  assignment.local = AssignGreedily(std::move(whole), job.world, DimOf, any);
  return assignment;
}

TableAssignment AssignHugectr(const Job& job) {
  return AssignLikeHugectr(job.model, {.batch = job.batch,
                                       .world = job.world,
                                       .nodes = job.nodes,
                                       .seed = job.seed});
}

// HugeCTR's localized slots: tables to the ranks in turn.
TableAssignment AssignRoundRobin(const Job& job) {
  const std::vector<TableGroup> tables = SingleTables(job.model.tables);
  const auto ranks = static_cast<size_t>(job.world);
  TableAssignment assignment;
  assignment.local.resize(std::min(ranks, tables.size()));
  for (size_t i = 0; i < tables.size(); ++i) {
    assignment.local[i % ranks].push_back(tables[i]);
  }
  return assignment;
}

// Memory balanced, the largest tables in columns.
TableAssignment AssignTensorflow(const Job& job) {
  if (job.model.kind != ModelKind::kDlrm) {
    return Replicate(job);
  }
  std::vector<TableGroup> slices;
  for (const TableGroup& table : SingleTables(job.model.tables)) {
    int64_t cuts = 1;
    while (ElementsOf(table) > kMostElements * static_cast<double>(cuts) &&
           2 * cuts <= job.world && table.dim % (2 * cuts) == 0) {
      cuts *= 2;
    }
    TableGroup slice = table;
    slice.dim /= cuts;
    slices.insert(slices.end(), static_cast<size_t>(cuts), slice);
  }
  return {.local = AssignInSnakeOrder(std::move(slices), job.world)};
}

// facebookresearch/dlrm gives neighbouring tables to a rank; other models are
// the same on every rank.
TableAssignment AssignPytorch(const Job& job) {
  if (job.model.kind != ModelKind::kDlrm) {
    return Replicate(job);
  }
  return {.local = AssignChunks(SingleTables(job.model.tables), job.world)};
}

TableAssignment AssignBy(ShardingRule rule, const Job& job) {
  switch (rule) {
    case ShardingRule::kTorchrec:
      return AssignTorchrec(job);
    case ShardingRule::kNvidia:
      return AssignNvidia(job);
    case ShardingRule::kHugectr:
      return AssignHugectr(job);
    case ShardingRule::kInTurn:
      return AssignRoundRobin(job);
    case ShardingRule::kTensorflow:
      return AssignTensorflow(job);
    case ShardingRule::kChunks:
    case ShardingRule::kNone:
      break;
  }
  return AssignPytorch(job);
}

// The rows of a split table that a rank has; ids are taken to be spread evenly.
TableGroup PartOf(const TableGroup& table, int64_t rank, int64_t world) {
  TableGroup part = table;
  part.rows = table.rows / world + (rank < table.rows % world ? 1 : 0);
  part.pooling = table.pooling / static_cast<double>(world);
  return part;
}

// Ranks at which the parts of split tables change: those below have a row more.
std::vector<int64_t> FirstRanks(const TableAssignment& assignment,
                                const Job& job) {
  const int64_t world = job.world;
  std::vector<int64_t> firsts;
  for (int64_t rank = 0; rank <= std::ssize(assignment.local); ++rank) {
    firsts.push_back(rank);
  }
  firsts.push_back(assignment.bottom_on_first ? 1 : 0);
  for (const TableGroup& table : assignment.split) {
    firsts.push_back(table.rows % world);
  }
  for (int64_t node = 0; node < std::ssize(assignment.node_split); ++node) {
    const int64_t first = node * assignment.ranks_per_node;
    firsts.push_back(first);
    firsts.push_back(first + assignment.ranks_per_node);
    for (const TableGroup& table :
         assignment.node_split[static_cast<size_t>(node)]) {
      firsts.push_back(first + table.rows % assignment.ranks_per_node);
    }
  }
  std::ranges::sort(firsts);
  firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
  std::erase_if(firsts, [&](int64_t rank) { return rank >= world; });
  return firsts;
}

bool HasNodeSplits(const TableAssignment& assignment) {
  return std::ranges::any_of(assignment.node_split, [](const auto& tables) {
    return !tables.empty();
  });
}

RankPlan PlanOf(const TableAssignment& assignment, int64_t rank,
                const Job& job) {
  RankPlan plan{.rank = rank,
                .world = job.world,
                .nodes = job.nodes,
                .replicated = assignment.replicated,
                .hot_rows = assignment.hot_rows,
                .bottom_mlp = !assignment.bottom_on_first || rank == 0};
  if (rank < std::ssize(assignment.local)) {
    plan.local = assignment.local[static_cast<size_t>(rank)];
  }
  for (const TableGroup& table : assignment.split) {
    plan.split.push_back(PartOf(table, rank, job.world));
  }
  if (HasNodeSplits(assignment)) {
    plan.ranks_per_node = assignment.ranks_per_node;
    for (const auto& tables : assignment.node_split) {
      plan.node_columns.push_back(ColumnsOf(tables));
    }
    const int64_t node = rank / assignment.ranks_per_node;
    for (const TableGroup& table :
         assignment.node_split[static_cast<size_t>(node)]) {
      plan.node_split.push_back(PartOf(table, rank % assignment.ranks_per_node,
                                       assignment.ranks_per_node));
    }
  }
  return plan;
}

std::vector<RankLoad> LoadsOf(const Job& job,
                              const TableAssignment& assignment) {
  std::vector<RankLoad> loads(static_cast<size_t>(job.world));
  for (size_t rank = 0; rank < assignment.local.size(); ++rank) {
    const std::vector<TableGroup>& tables = assignment.local[rank];
    loads[rank] = {.tables = TablesOf(tables),
                   .columns = ColumnsOf(tables),
                   .ids = LookupsOf(tables, job.batch)};
  }
  if (HasNodeSplits(assignment) && job.world <= kMostLoads) {
    for (int64_t rank = 0; rank < job.world; ++rank) {
      const std::vector<TableGroup> parts =
          PlanOf(assignment, rank, job).node_split;
      loads[static_cast<size_t>(rank)].node_tables = TablesOf(parts);
      loads[static_cast<size_t>(rank)].node_ids = LookupsOf(parts, job.batch);
    }
  }
  if (assignment.bottom_on_first && !job.model.bottom_mlp.empty()) {
    loads.front().columns += job.model.bottom_mlp.back();
  }
  return loads;
}

bool Alike(const RankPlan& a, const RankPlan& b) {
  return std::tie(a.local, a.split, a.node_split, a.bottom_mlp) ==
         std::tie(b.local, b.split, b.node_split, b.bottom_mlp);
}

// Runs of ranks whose plan is that of their first, folded where they are alike.
std::vector<RankShare> Fold(const Job& job, const TableAssignment& assignment) {
  std::vector<RankShare> shares;
  const std::vector<int64_t> firsts = FirstRanks(assignment, job);
  for (size_t i = 0; i < firsts.size(); ++i) {
    const int64_t end = i + 1 < firsts.size() ? firsts[i + 1] : job.world;
    RankPlan plan = PlanOf(assignment, firsts[i], job);
    const auto same = std::ranges::find_if(shares, [&](const RankShare& share) {
      return Alike(share.plan, plan);
    });
    if (same != shares.end()) {
      same->count += end - firsts[i];
    } else {
      shares.push_back({.plan = std::move(plan), .count = end - firsts[i]});
    }
  }
  const std::vector<RankLoad> loads = LoadsOf(job, assignment);
  for (RankShare& share : shares) {
    share.plan.makers = std::ranges::count_if(
        loads, [](const RankLoad& load) { return load.columns > 0; });
    if (job.world <= kMostLoads) {
      share.plan.loads = loads;
    }
  }
  return shares;
}

}  // namespace

Result<std::vector<RankShare>> ShareTables(const Model& model,
                                           const Settings& settings,
                                           int64_t world, int64_t nodes) {
  if (world < 1 || world > kMostRanks) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} ranks; expected 1 to {}", world, kMostRanks));
  }
  if (nodes < 1 || world % nodes != 0) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} ranks on {} nodes; expected as many on each",
                            world, nodes));
  }
  if (world == 1) {
    return std::vector<RankShare>{{.plan = {.local = model.tables}}};
  }
  if (settings.impl->sharding == ShardingRule::kNone) {
    std::vector<std::string_view> names;
    for (const Implementation& one : Implementations()) {
      if (one.sharding != ShardingRule::kNone) {
        names.push_back(one.name);
      }
    }
    return Fail(
        ErrorCode::kUnsupported,
        Unknown("implementation for several GPUs", settings.impl->name, names));
  }
  const Job job{.model = model,
                .batch = settings.batch > 0 ? settings.batch : model.batch,
                .world = world,
                .nodes = nodes,
                .seed = settings.seed};
  return Fold(job, AssignBy(settings.impl->sharding, job));
}

Result<std::vector<RankShare>> ShareAssignment(
    const Model& model, const Settings& settings, int64_t world,
    const TableAssignment& assignment) {
  CHECK(world >= 1 && world <= kMostRanks &&
        std::ssize(assignment.local) <= world);
  if (HasNodeSplits(assignment)) {
    CHECK(assignment.ranks_per_node * std::ssize(assignment.node_split) ==
          world);
    if (!settings.impl->plans) {
      return Fail(ErrorCode::kUnsupported,
                  fmt::format("implementation {} does not split tables over "
                              "the ranks of a node; expected torchrec",
                              settings.impl->name));
    }
  }
  return Fold({.model = model,
               .batch = settings.batch > 0 ? settings.batch : model.batch,
               .world = world},
              assignment);
}

}  // namespace stepcast::model
