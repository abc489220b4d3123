#include "model/build_graph.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "model/frameworks/implementations.h"

namespace stepcast::model {

Result<ir::Graph> BuildGraph(const Model& model, const Settings& settings) {
  RankPlan all;
  all.local = model.tables;
  return BuildRankGraph(model, settings, all);
}

Result<ir::Graph> BuildRankGraph(const Model& model, const Settings& settings,
                                 const RankPlan& plan) {
  const Implementation* const found = settings.impl;
  if (model.kind != ModelKind::kDlrm && !found->other_models) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("{} is a {} model, which implementation {} does "
                            "not run; expected pytorch",
                            model.name, Name(model.kind), found->name));
  }
  const auto away =
      std::ranges::find_if(model.tables, [](const TableGroup& table) {
        return table.placement != Placement::kHbm;
      });
  if (away != model.tables.end() &&
      !(found->placements && model.kind == ModelKind::kDlrm)) {
    return Fail(
        ErrorCode::kUnsupported,
        fmt::format("tables in {}, which implementation {} does not "
                    "know of a {} model; expected hbm, or torchrec or "
                    "pytorch and a dlrm model",
                    Name(away->placement), found->name, Name(model.kind)));
  }
  if (settings.cuda_graphs != CudaGraphs::kOff && !found->cuda_graphs) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("implementation {} runs without CUDA graphs here; "
                            "expected off, or pytorch, nvidia or hugectr",
                            found->name));
  }
  Settings complete = settings;
  if (complete.batch == 0) {
    complete.batch = model.batch;
  }
  if (complete.batch < 1 || complete.batch > kMostBatch) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("a batch of {} samples; expected 1 to {}",
                            complete.batch, kMostBatch));
  }
  if (plan.world != 1 && found->sharding == ShardingRule::kNone) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("implementation {} runs on one GPU here, not on "
                            "{}; expected torchrec",
                            found->name, plan.world));
  }
  return found->build({.model = model, .settings = complete, .plan = plan});
}

std::vector<std::string> ImplementationNames() {
  std::vector<std::string> names;
  for (const Implementation& implementation : Implementations()) {
    names.emplace_back(implementation.name);
  }
  return names;
}

}  // namespace stepcast::model
