#include "engine/run/predict_model.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"
#include "base/units.h"
#include "engine/run/place_tables.h"
#include "engine/run/request.h"
#include "hw/device.h"
#include "hw/links.h"
#include "hw/node.h"
#include "ir/graph.h"
#include "ir/join_ranks.h"
#include "model/build_graph.h"
#include "model/frameworks/implementations.h"
#include "model/memory.h"
#include "model/settings.h"
#include "model/tables/sharding.h"

namespace stepcast::engine {
namespace {

// The step of every rank of a job, with identical ranks listed once.

struct Job {
  ir::Graph graph;
  std::vector<int64_t> counts{};     // By rank of the graph.
  model::Memory memory{};            // Of the fullest rank.
  std::vector<double> rank_bytes{};  // In memory, by rank of the graph.
};

// In the GPU's memory.
double TableBytes(const std::vector<model::TableGroup>& tables) {
  double bytes = 0;
  for (const model::TableGroup& group : tables) {
    const double all = static_cast<double>(group.count) *
                       static_cast<double>(group.rows) *
                       static_cast<double>(group.dim);
    if (group.placement == model::Placement::kHbm) {
      bytes += all;
    } else if (model::IsCached(group.placement)) {
      bytes += all * group.cache;
    }
  }
  return bytes;
}

// Of the bytes of all tables, those of a rank.
double ShareOf(const model::Model& model, const model::RankPlan& plan) {
  const double own = TableBytes(plan.local) + TableBytes(plan.replicated) +
                     TableBytes(plan.split) + TableBytes(plan.node_split);
  return own / std::max(TableBytes(model.tables), 1.0);
}

Result<Job> BuildJob(const Request& request, const model::Settings& settings) {
  const int ranks = request.machine.ranks;
  if (ranks <= 1) {
    ASSIGN_OR_RETURN(ir::Graph graph,
                     model::BuildGraph(request.model, settings));
    model::Memory memory = model::MemoryOf(request.model, settings, graph);
    const double bytes = memory.total();
    return Job{.graph = std::move(graph),
               .memory = std::move(memory),
               .rank_bytes = {bytes}};
  }
  ASSIGN_OR_RETURN(const std::vector<model::RankShare> shares,
                   request.assignment
                       ? model::ShareAssignment(request.model, settings, ranks,
                                                *request.assignment)
                       : model::ShareTables(request.model, settings, ranks,
                                            request.machine.nodes));
  std::vector<int64_t> counts;
  std::vector<double> bytes;
  model::Memory fullest;
  std::vector<ir::Graph> graphs;
  std::vector<ir::RankGraph> joined;
  for (const model::RankShare& share : shares) {
    ASSIGN_OR_RETURN(ir::Graph graph, model::BuildRankGraph(
                                          request.model, settings, share.plan));
    model::Memory memory =
        model::MemoryOf(request.model, settings, graph,
                        {.table_share = ShareOf(request.model, share.plan),
                         .communication = model::CommunicationBytes(graph)});
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

// CPU steps differ more from their prediction than GPU steps: threads, NUMA and
// builds are not in the rows. Chosen so that about 80 % of the published steps
// without GPUs lie between p10 and p90; none was kept back.
constexpr double kServerSpread = 0.22;

// The server of a rank, where tables are in its memory or beyond.
struct Host {
  HostPricing pricing{};
  double memory_gb = 0;
};

Host HostOf(const Machine& machine) {
  if (!machine.cluster) {
    // A workstation of two usual sockets, with as much memory as there is.
    return {
        .pricing = {.memory_gbs = hw::UsualHostGbs(machine.device->pcie_gbs),
                    .nic_gbs = hw::kLeastNicGbs},
        .memory_gb = std::numeric_limits<double>::infinity()};
  }
  const hw::Cluster& cluster = *machine.cluster;
  const double nic = hw::NicGbsPerGpu(cluster.node, cluster.gpus_per_node);
  return {
      .pricing = {.memory_gbs = cluster.node.memory_gbs / cluster.gpus_per_node,
                  .nic_gbs =
                      nic > 0 ? nic : hw::kLeastNicGbs / cluster.gpus_per_node},
      .memory_gb = cluster.node.memory_gb};
}

// What a reader should know of a type that the device has no units for.
std::vector<std::string> TypeNotes(model::Precision precision,
                                   const hw::Device& device) {
  const bool tf32 =
      precision == model::Precision::kTf32 && !hw::HasTf32(device);
  const bool bf16 =
      precision == model::Precision::kBf16 && !hw::HasBf16(device);
  if (!tf32 && !bf16) {
    return {};
  }
  return {fmt::format("{} has no {} units: products at FP32's rate",
                      device.name, tf32 ? "TF32" : "BF16")};
}

// Processors have no CUDA context.
void DropContext(model::Memory& memory) {
  std::erase_if(memory.parts, [](const model::MemoryPart& part) {
    return part.name == "context";
  });
}

// What servers without GPUs cannot run.
Status CheckOnServers(const Request& request, int64_t batch) {
  if (request.settings.cuda_graphs != model::CudaGraphs::kOff) {
    return Fail(ErrorCode::kInvalidInput,
                "CUDA graphs on a server without GPUs; expected off");
  }
  const auto away = std::ranges::find_if(
      request.model.tables, [](const model::TableGroup& table) {
        return table.placement != model::Placement::kHbm;
      });
  if (away != request.model.tables.end()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("tables in {} of a server without GPUs, which has "
                            "one memory; expected hbm, which stands for it, or "
                            "--trainers and --sparse-servers",
                            model::Name(away->placement)));
  }
  if (batch % request.machine.ranks != 0) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("a batch of {} over {} processes; expected as many "
                            "samples for each",
                            batch, request.machine.ranks));
  }
  return {};
}

}  // namespace

Result<ModelPrediction> PredictModel(const Request& request,
                                     const PredictOptions& options) {
  const Machine& machine = request.machine;
  if (request.hybrid && machine.has_gpus()) {
    ASSIGN_OR_RETURN(const HybridRequest placed, PlaceHybrid(request));
    ASSIGN_OR_RETURN(ModelPrediction predicted,
                     PredictModel(placed.request, options));
    predicted.notes.push_back(placed.note);
    return predicted;
  }
  model::Settings settings = request.settings;
  settings.batch = settings.batch > 0 ? settings.batch : request.model.batch;
  if (!machine.has_gpus()) {
    RETURN_IF_ERROR(CheckOnServers(request, settings.batch));
    settings.batch /= machine.ranks;
  }
  ASSIGN_OR_RETURN(Job job, BuildJob(request, settings));
  if (!machine.has_gpus()) {
    DropContext(job.memory);
  }
  PredictOptions how = options;
  how.system_spread = machine.has_gpus() ? kSystemSpread : kServerSpread;
  if (machine.ranks > 1) {
    how.price.collectives.models = machine.collectives;
    how.price.collectives.rank_counts = job.counts;
    how.price.collectives.ranks = machine.ranks;
    how.price.collectives.nodes = machine.nodes;
    how.price.collectives.hierarchical = settings.impl->hierarchical;
  }
  const Host host = AllInHbm(request.model) ? Host{} : HostOf(machine);
  how.price.host = host.pricing;
  ASSIGN_OR_RETURN(
      StepResult result,
      engine::Predict(
          {.graph = std::make_shared<const ir::Graph>(std::move(job.graph)),
           .models = machine.kernels,
           .overheads = request.overheads.value.get()},
          how));
  ModelPrediction predicted{.result = std::move(result),
                            .memory = std::move(job.memory),
                            .rank_bytes = std::move(job.rank_bytes),
                            .memory_capacity = machine.device->dram_gb * kGiga,
                            .batch = settings.batch};
  if (machine.cluster) {
    predicted.power_w = machine.cluster->power_w;
    predicted.price_usd = machine.cluster->price_usd;
  }
  if (machine.has_gpus()) {
    predicted.host_bytes = predicted.memory.host / machine.nodes;
    predicted.host_capacity = host.memory_gb * kGiga;
    predicted.notes = TypeNotes(settings.precision, *machine.device);
  }
  return predicted;
}

HostPricing HostPricingOf(const Machine& machine) {
  return HostOf(machine).pricing;
}

}  // namespace stepcast::engine
