#include "ingest/build_graph.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ingest/execution_graph.h"
#include "ingest/match_collectives.h"
#include "ingest/profiler_graph.h"
#include "ingest/step_window.h"
#include "ir/graph_builder.h"

namespace stepcast::ingest {
namespace {

Duration EpochStart(const LinkedTrace& linked, uint32_t step) {
  return linked.trace.info.base_time + linked.steps[step].start;
}

}  // namespace

GraphMaker::GraphMaker(std::span<const RankTrace> ranks, const Rules& rules)
    : ranks_(ranks), rules_(rules), facts_(ranks.size()) {
  for (size_t i = 0; i < ranks_.size(); ++i) {
    if (ranks_[i].profiler) {
      facts_[i] = ReadFacts(ranks_[i], rules);
    }
  }
}

GraphMaker::~GraphMaker() = default;

Result<ir::Graph> GraphMaker::Make(const BuildOptions& options,
                                   Diagnostics& diagnostics) const {
  for (const RankTrace& rank : ranks_) {
    if (rank.graph && ranks_.size() == 1) {
      return *rank.graph;
    }
    if (rank.graph) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{}: a graph file holds all ranks already; give "
                              "it alone",
                              rank.paths.front()));
    }
  }
  ASSIGN_OR_RETURN(const std::vector<uint32_t> steps,
                   ChooseStep(ranks_, options.step));
  Duration zero = Duration::max();
  for (size_t i = 0; i < ranks_.size(); ++i) {
    if (ranks_[i].profiler) {
      zero = std::min(zero, EpochStart(*ranks_[i].profiler, steps[i]));
    }
  }
  ir::GraphBuilder builder;
  std::vector<AddedRank> added;
  for (size_t i = 0; i < ranks_.size(); ++i) {
    const RankTrace& rank = ranks_[i];
    if (rank.profiler) {
      builder.set_source(rank.profiler->trace.info.format);
      added.push_back(AddProfilerRank(
          rank, {.step = rank.profiler->steps[steps[i]], .zero = zero}, rules_,
          facts_[i], builder, diagnostics));
    } else {
      builder.set_source(rank.execution->info.format);
      const ExecutionStep* step =
          steps[i] == kNoEvent ? nullptr : &rank.execution->steps[steps[i]];
      added.push_back(AddExecutionRank(rank, step, rules_, builder));
    }
  }
  MatchCollectives(added, builder, diagnostics);
  return std::move(builder).Build();
}

Result<ir::Graph> BuildGraph(std::span<const RankTrace> ranks,
                             const Rules& rules, const BuildOptions& options,
                             Diagnostics& diagnostics) {
  return GraphMaker(ranks, rules).Make(options, diagnostics);
}

}  // namespace stepcast::ingest
