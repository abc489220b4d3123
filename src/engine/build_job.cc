#include "engine/build_job.h"

#include <algorithm>
#include <utility>

#include "ir/join_ranks.h"
#include "workload/build_graph.h"
#include "workload/sharding.h"

namespace stepcast::engine {
namespace {

// In the GPU's memory.
double TableBytes(const std::vector<workload::TableGroup>& tables) {
  double bytes = 0;
  for (const workload::TableGroup& group : tables) {
    const double all = static_cast<double>(group.count) *
                       static_cast<double>(group.rows) *
                       static_cast<double>(group.dim);
    if (group.placement == workload::Placement::kHbm) {
      bytes += all;
    } else if (workload::IsCached(group.placement)) {
      bytes += all * group.cache;
    }
  }
  return bytes;
}

// Of the bytes of all tables, those of a rank.
double ShareOf(const workload::Model& model, const workload::RankPlan& plan) {
  const double own = TableBytes(plan.local) + TableBytes(plan.replicated) +
                     TableBytes(plan.split) + TableBytes(plan.node_split);
  return own / std::max(TableBytes(model.tables), 1.0);
}

}  // namespace

Result<Job> BuildJob(const Request& request,
                     const workload::Settings& settings) {
  const int ranks = request.machine.ranks;
  if (ranks <= 1) {
    ASSIGN_OR_RETURN(ir::Graph graph,
                     workload::BuildGraph(request.model, settings));
    workload::Memory memory =
        workload::MemoryOf(request.model, settings, graph);
    const double bytes = memory.total();
    return Job{.graph = std::move(graph),
               .memory = std::move(memory),
               .rank_bytes = {bytes}};
  }
  ASSIGN_OR_RETURN(
      const std::vector<workload::RankShare> shares,
      request.deal
          ? workload::ShareDeal(request.model, settings, ranks, *request.deal)
          : workload::ShareTables(request.model, settings, ranks,
                                  request.machine.nodes));
  std::vector<int64_t> counts;
  std::vector<double> bytes;
  workload::Memory fullest;
  std::vector<ir::Graph> graphs;
  std::vector<ir::RankGraph> joined;
  for (const workload::RankShare& share : shares) {
    ASSIGN_OR_RETURN(ir::Graph graph, workload::BuildRankGraph(
                                          request.model, settings, share.plan));
    workload::Memory memory = workload::MemoryOf(
        request.model, settings, graph,
        {.table_share = ShareOf(request.model, share.plan),
         .communication = workload::CommunicationBytes(graph)});
    counts.push_back(share.count);
    bytes.push_back(memory.total());
    if (memory.total() > fullest.total()) {
      fullest = std::move(memory);
    }
    graphs.push_back(std::move(graph));
  }
  for (size_t i = 0; i < graphs.size(); ++i) {
    joined.push_back({.graph = &graphs[i], .number = shares[i].plan.rank});
  }
  ASSIGN_OR_RETURN(ir::Graph graph, ir::JoinRanks(joined));
  return Job{.graph = std::move(graph),
             .counts = std::move(counts),
             .memory = std::move(fullest),
             .rank_bytes = std::move(bytes)};
}

}  // namespace stepcast::engine
