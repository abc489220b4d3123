#include "scenario/apply.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cost/overheads/overhead_table.h"
#include "engine/run/place_tables.h"
#include "hw/cluster.h"
#include "hw/device.h"
#include "hw/node.h"
#include "model/frameworks/implementations.h"
#include "model/read_model.h"
#include "model/settings.h"
#include "plan/load_assignment.h"
#include "scenario/resize_model.h"

namespace stepcast::scenario {

tl::unexpected<Error> NoEffect(std::string_view setting,
                               std::string_view reason) {
  return Fail(ErrorCode::kUnsupported,
              fmt::format("{} has no effect: {}", setting, reason));
}

namespace {

int64_t Scaled(int64_t size, double factor) {
  return std::max<int64_t>(std::llround(static_cast<double>(size) * factor), 1);
}

// Does something to each table of the job's model.
template <typename Set>
Status ForTables(std::string_view setting, Job& job, const Set& set) {
  model::Model& model = job.request.model;
  if (model.tables.empty()) {
    return NoEffect(setting,
                    fmt::format("{} has no tables; expected a recommendation "
                                "model",
                                model.name));
  }
  for (model::TableGroup& group : model.tables) {
    set(group);
  }
  return {};
}

// The same of MLPs, those that there are.
template <typename Set>
Status ForMlps(
    std::string_view setting, Job& job,
    std::initializer_list<std::vector<int64_t> model::Model::*> members,
    const Set& set) {
  model::Model& model = job.request.model;
  bool any = false;
  for (const auto member : members) {
    if (!(model.*member).empty()) {
      set(model.*member);
      any = true;
    }
  }
  if (!any) {
    return NoEffect(setting, fmt::format("{} has no such MLP; expected a "
                                         "model that has",
                                         model.name));
  }
  return {};
}

constexpr auto kBottom = &model::Model::bottom_mlp;
constexpr auto kTop = &model::Model::top_mlp;

Status ApplyDepth(
    std::string_view setting, const Value& value, Job& job,
    std::initializer_list<std::vector<int64_t> model::Model::*> members) {
  return ForMlps(setting, job, members, [&](std::vector<int64_t>& mlp) {
    SetDepth(value.whole, mlp);
  });
}

Status ApplyWidth(
    std::string_view setting, const Value& value, Job& job,
    std::initializer_list<std::vector<int64_t> model::Model::*> members) {
  return ForMlps(setting, job, members, [&](std::vector<int64_t>& mlp) {
    SetWidth(value.whole, mlp);
  });
}

Status ApplyMlp(std::string_view setting, const Value& value, Job& job,
                std::vector<int64_t> model::Model::*member) {
  ASSIGN_OR_RETURN(const std::vector<int64_t> widths, ParseMlp(value.text));
  return ForMlps(setting, job, {member},
                 [&](std::vector<int64_t>& mlp) { mlp = widths; });
}

// A step on GPUs drops the settings of servers that train.
void MoveToGpus(Job& job) {
  job.names.machine.server.clear();
  job.names.machine.runtime.clear();
}

// "big-basin" becomes "big-basin@host_memory_gbs=150".
Status AddFigure(std::string_view what, std::string_view key,
                 const Value& value, std::string& name) {
  if (name.empty()) {
    return NoEffect(fmt::format("figure {}", key),
                    fmt::format("no {} is named; expected one", what));
  }
  const char mark = name.find('@') == std::string::npos ? '@' : ',';
  name += fmt::format("{}{}={}", mark, key, value.number);
  return {};
}

Status NeedsRanks(std::string_view setting, const Job& job) {
  if (!job.names.machine.server.empty()) {
    return NoEffect(setting,
                    "processes on servers exchange gradients in one "
                    "go; expected GPUs");
  }
  if (job.names.machine.gpus <= 1) {
    return NoEffect(setting,
                    "one GPU has nobody to talk to; expected gpus=2 "
                    "or more");
  }
  return {};
}

}  // namespace

Status ApplySparseFeatures(const Value& value, Job& job) {
  RETURN_IF_ERROR(ForTables("sparse-features", job, [](model::TableGroup&) {}));
  SetTableCount(value.whole, job.request.model);
  return {};
}

Status ApplyDenseFeatures(const Value& value, Job& job) {
  model::Model& model = job.request.model;
  if (model.dense_features == 0) {
    return NoEffect("dense-features",
                    fmt::format("{} reads no dense features; expected a model "
                                "that does",
                                model.name));
  }
  model.dense_features = value.whole;
  return {};
}

Status ApplyRows(const Value& value, Job& job) {
  return ForTables("rows", job,
                   [&](model::TableGroup& group) { group.rows = value.whole; });
}

Status ApplyRowsFactor(const Value& value, Job& job) {
  return ForTables("rows-factor", job, [&](model::TableGroup& group) {
    group.rows = Scaled(group.rows, value.number);
  });
}

Status ApplyPooling(const Value& value, Job& job) {
  return ForTables("pooling", job, [&](model::TableGroup& group) {
    group.pooling = value.number;
  });
}

Status ApplyPoolingFactor(const Value& value, Job& job) {
  return ForTables("pooling-factor", job, [&](model::TableGroup& group) {
    // A sample has an id at least, unless it had less before.
    group.pooling =
        std::max(group.pooling * value.number, std::min(group.pooling, 1.0));
  });
}

Status ApplyBottomMlp(const Value& value, Job& job) {
  return ApplyMlp("bottom-mlp", value, job, kBottom);
}

Status ApplyTopMlp(const Value& value, Job& job) {
  return ApplyMlp("top-mlp", value, job, kTop);
}

Status ApplyMlpDepth(const Value& value, Job& job) {
  return ApplyDepth("mlp-depth", value, job, {kBottom, kTop});
}

Status ApplyBottomDepth(const Value& value, Job& job) {
  return ApplyDepth("bottom-depth", value, job, {kBottom});
}

Status ApplyTopDepth(const Value& value, Job& job) {
  return ApplyDepth("top-depth", value, job, {kTop});
}

Status ApplyMlpWidth(const Value& value, Job& job) {
  return ApplyWidth("mlp-width", value, job, {kBottom, kTop});
}

Status ApplyBottomWidth(const Value& value, Job& job) {
  return ApplyWidth("bottom-width", value, job, {kBottom});
}

Status ApplyTopWidth(const Value& value, Job& job) {
  return ApplyWidth("top-width", value, job, {kTop});
}

// Layers between the first and the last; those must fit what is around them.
Status ApplyMlpFactor(const Value& value, Job& job) {
  return ForMlps("mlp-factor", job, {kBottom, kTop},
                 [&](std::vector<int64_t>& mlp) {
                   for (size_t i = 0; i + 1 < mlp.size(); ++i) {
                     mlp[i] = Scaled(mlp[i], value.number);
                   }
                 });
}

Status ApplyDim(const Value& value, Job& job) {
  RETURN_IF_ERROR(ForTables("dim", job, [](model::TableGroup&) {}));
  SetDim(value.whole, job.request.model);
  return {};
}

// The bottom MLP ends as wide as the tables where it did so before.
Status ApplyDimFactor(const Value& value, Job& job) {
  model::Model& model = job.request.model;
  const int64_t dim = model.tables.empty() ? 0 : model.tables.front().dim;
  RETURN_IF_ERROR(ForTables("dim-factor", job, [&](model::TableGroup& group) {
    group.dim = Scaled(group.dim, value.number);
  }));
  if (!model.bottom_mlp.empty() && model.bottom_mlp.back() == dim) {
    model.bottom_mlp.back() = model.tables.front().dim;
  }
  return {};
}

Status ApplyPlacement(const Value& value, Job& job) {
  return engine::SetPlacement(value.text, job.request);
}

Status ApplyBatch(const Value& value, Job& job) {
  job.request.settings.batch = value.whole;
  return {};
}

Status ApplyMode(const Value& value, Job& job) {
  ASSIGN_OR_RETURN(job.request.settings.mode, model::ParseMode(value.text));
  return {};
}

Status ApplyPrecision(const Value& value, Job& job) {
  ASSIGN_OR_RETURN(job.request.settings.precision,
                   model::ParsePrecision(value.text));
  return {};
}

Status ApplyImpl(const Value& value, Job& job) {
  ASSIGN_OR_RETURN(job.request.settings.impl,
                   model::FindImplementation(value.text));
  return {};
}

Status ApplyCudaGraphs(const Value& value, Job& job) {
  ASSIGN_OR_RETURN(job.request.settings.cuda_graphs,
                   model::ParseCudaGraphs(value.text));
  return {};
}

Status ApplyPlan(const Value& value, Job& job) {
  job.names.plan = value.text;
  return {};
}

Status ApplyPageable(const Value& /*value*/, Job& job) {
  job.request.settings.pinned = false;
  return {};
}

Status ApplyFusedOptimizer(const Value& /*value*/, Job& job) {
  job.request.model.optimizer_form = model::OptimizerForm::kFused;
  return {};
}

Status ApplyBucketMib(const Value& value, Job& job) {
  job.request.settings.bucket_mib = value.whole;
  return {};
}

Status ApplyPrefetch(const Value& value, Job& job) {
  if (value.text != "on" && value.text != "off") {
    return Fail(
        ErrorCode::kInvalidInput,
        fmt::format("prefetch is '{}'; expected on or off", value.text));
  }
  job.request.settings.prefetch_ids = value.text == "on";
  return {};
}

// The GPU is then the platform's own.
Status ApplyPlatform(const Value& value, Job& job) {
  MoveToGpus(job);
  job.names.machine.platform = value.text;
  job.names.machine.gpu.clear();
  return {};
}

Status ApplyGpu(const Value& value, Job& job) {
  MoveToGpus(job);
  job.names.machine.gpu = value.text;
  return {};
}

Status ApplyGpus(const Value& value, Job& job) {
  job.names.machine.gpus = static_cast<int>(value.whole);
  return {};
}

Status ApplyNodes(const Value& value, Job& job) {
  job.names.machine.nodes = static_cast<int>(value.whole);
  return {};
}

Status ApplyServer(const Value& value, Job& job) {
  job.servers.name = value.text;
  return {};
}

Status ApplyRuntime(const Value& value, Job& job) {
  job.names.machine.runtime = value.text;
  return {};
}

Status ApplySparseServer(const Value& value, Job& job) {
  job.servers.sparse_name = value.text;
  return {};
}

Status ApplyDenseServer(const Value& value, Job& job) {
  job.servers.dense_name = value.text;
  return {};
}

Status ApplyPlatformFigure(std::string_view key, const Value& value, Job& job) {
  return AddFigure("platform", key, value, job.names.machine.platform);
}

Status ApplyServerFigure(std::string_view key, const Value& value, Job& job) {
  return AddFigure("server", key, value, job.servers.name);
}

Status ApplyOverheads(const Value& value, Job& job) {
  job.names.overheads = value.text;
  return {};
}

Status ApplyProfiled(const Value& /*value*/, Job& job) {
  job.options.profiled = true;
  return {};
}

Status ApplySamples(const Value& value, Job& job) {
  job.options.samples = static_cast<uint32_t>(value.whole);
  return {};
}

Status ApplySeed(const Value& value, Job& job) {
  job.options.seed = static_cast<uint64_t>(value.whole);
  job.request.settings.seed = job.options.seed;
  return {};
}

Status KnownModel(const std::string& word) {
  ASSIGN_OR_RETURN(const model::Model model, model::FindModel(word));
  return {};
}

Status KnownImpl(const std::string& word) {
  const auto found = model::FindImplementation(word);
  return found ? Status() : Status(tl::unexpected(found.error()));
}

Status KnownPlatform(const std::string& word) {
  ASSIGN_OR_RETURN(const hw::Node platform, hw::FindPlatform(word));
  return {};
}

Status KnownGpu(const std::string& word) {
  ASSIGN_OR_RETURN(const hw::Device device, hw::FindDevice(word));
  return {};
}

Status KnownOverheads(const std::string& word) {
  ASSIGN_OR_RETURN(const cost::OverheadData data, cost::LoadOverheads(word));
  return {};
}

Status KnownServer(const std::string& word) {
  ASSIGN_OR_RETURN(const hw::Node server, hw::FindServer(word));
  return {};
}

Status CheckNodes(const Job& job) {
  const MachineNames& names = job.names.machine;
  if (names.server.empty() && names.gpus < names.nodes) {
    return Fail(
        ErrorCode::kInvalidInput,
        fmt::format("{} nodes with {} GPU{} over all of them; expected at "
                    "least one per node, as gpus={}",
                    names.nodes, names.gpus, names.gpus == 1 ? "" : "s",
                    names.nodes * 8));
  }
  return {};
}

Status CheckServerNic(const Job& job) {
  const bool alone = !job.is_fleet() && !job.names.machine.server.empty() &&
                     job.names.machine.nodes == 1;
  if (alone) {
    return NoEffect("server-nic-gbs",
                    "one server sends nothing; expected "
                    "nodes=2 or more");
  }
  return {};
}

Status CheckCudaGraphs(const Job& job) {
  const model::Settings& settings = job.request.settings;
  const model::Implementation* const impl = settings.impl;
  if (settings.cuda_graphs != model::CudaGraphs::kOff && !impl->cuda_graphs) {
    return NoEffect("cuda-graphs",
                    fmt::format("implementation {} runs without CUDA graphs "
                                "here; expected off, or pytorch, nvidia or "
                                "hugectr",
                                impl->name));
  }
  return {};
}

Status CheckFusedOptimizer(const Job& job) {
  if (job.request.settings.mode == model::Mode::kInfer) {
    return NoEffect("fused-optimizer",
                    "inference has no optimizer; expected mode=train");
  }
  return {};
}

Status CheckBucketMib(const Job& job) {
  RETURN_IF_ERROR(NeedsRanks("bucket-mib", job));
  const model::Implementation* const impl = job.request.settings.impl;
  if (!impl->ddp) {
    return NoEffect("bucket-mib",
                    fmt::format("{} does not sum gradients with DDP; expected "
                                "pytorch, torchrec or nvidia",
                                impl->name));
  }
  return {};
}

Status CheckPrefetch(const Job& job) {
  RETURN_IF_ERROR(NeedsRanks("prefetch", job));
  const model::Implementation* const impl = job.request.settings.impl;
  if (!impl->prefetches) {
    return NoEffect("prefetch",
                    fmt::format("{} has no distribution of ids to bring "
                                "forward; expected torchrec",
                                impl->name));
  }
  return {};
}

}  // namespace stepcast::scenario
