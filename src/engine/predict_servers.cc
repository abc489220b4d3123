// Predicts steps on servers without GPUs: a process a server or a socket, each
// a device.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/units.h"
#include "cost/collectives/collective_models.h"
#include "engine/build_job.h"
#include "engine/cpu_runtime.h"
#include "engine/predictor.h"
#include "hw/cluster.h"
#include "hw/cpu_device.h"
#include "hw/node.h"
#include "workload/build_graph.h"

namespace stepcast::engine {
namespace {

// CPU steps differ more from their prediction than GPU steps: threads, NUMA and
// builds are not in the rows. Chosen so that about 80 % of the published steps
// without GPUs lie between p10 and p90; none was kept back.
constexpr double kServerSpread = 0.22;

// What products keep of their rate where threads of one process span sockets,
// operands of which lie on one of them. Best of four on the published steps
// without GPUs, of which those of TorchScript and TensorFlow on two sockets
// tell (docs/models/cpu_device.md).
constexpr double kSpanShare = 0.3;

// A process that spans sockets reads and writes half of what it touches over
// their links; several processes stay on theirs.
void SpreadOverSockets(const hw::Node& host, hw::Device& device) {
  const double remote = 1 - 1.0 / host.sockets;
  const double links = host.sockets * host.socket_link_gbs;
  if (remote > 0 && links > 0) {
    device.gemm_fp32_share *= kSpanShare;
    device.bmm_fp32_share *= kSpanShare;
    device.gemm_half_share *= kSpanShare;
    const double local = device.dram_gbs;
    device.dram_gbs =
        1 / ((1 - remote) / local + remote / std::min(links, local));
  }
}

// Processors have no CUDA context.
void DropContext(workload::Memory& memory) {
  std::erase_if(memory.parts, [](const workload::MemoryPart& part) {
    return part.name == "context";
  });
}

// Whether each socket has a process of its own.
bool IsApart(const CpuRuntime& runtime, const hw::Node& host) {
  return runtime.per_socket && host.sockets > 1;
}

// The processes on servers, and what is between them.
Result<hw::Cluster> ClusterOf(const CpuRuntime& runtime, const hw::Node& host,
                              int nodes) {
  ASSIGN_OR_RETURN(
      hw::Cluster cluster,
      hw::MakeCluster(host, hw::MakeCpuDevice(host, hw::OneSocket(host)),
                      nodes * host.sockets, nodes));
  if (!IsApart(runtime, host)) {
    cluster.gpus_per_node = 1;
    cluster.node.devices = 1;
    cluster.node.domain_devices = 1;
  }
  return cluster;
}

Status CheckRequest(const Request& request, int ranks, int64_t batch) {
  if (request.gpus > 1 || !request.platform.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "a server has no GPUs; expected --server or --platform and "
                "--gpus, not both");
  }
  if (request.settings.cuda_graphs != workload::CudaGraphs::kOff) {
    return Fail(ErrorCode::kInvalidInput,
                "CUDA graphs on a server without GPUs; expected off");
  }
  const auto away = std::ranges::find_if(
      request.model.tables, [](const workload::TableGroup& table) {
        return table.placement != workload::Placement::kHbm;
      });
  if (away != request.model.tables.end()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("tables in {} of a server without GPUs, which has "
                            "one memory; expected hbm, which stands for it, or "
                            "--trainers and --sparse-servers",
                            workload::Name(away->placement)));
  }
  if (request.nodes < 1 || batch % ranks != 0) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("a batch of {} over {} processes; expected as many "
                            "samples for each",
                            batch, ranks));
  }
  return {};
}

}  // namespace

Result<const cost::CollectiveModels*> Predictor::ServerCollectives(
    std::string_view server, std::string_view runtime_name, int nodes) {
  ASSIGN_OR_RETURN(const CpuRuntime* runtime, FindCpuRuntime(runtime_name, {}));
  const std::string key =
      fmt::format("server {} {} {}", server, runtime->name, nodes);
  const auto found = collectives_.find(key);
  if (found != collectives_.end()) {
    return found->second.get();
  }
  ASSIGN_OR_RETURN(const hw::Node host, hw::FindServer(std::string(server)));
  ASSIGN_OR_RETURN(const hw::Cluster cluster, ClusterOf(*runtime, host, nodes));
  return AddCollectives(key, cluster);
}

Result<const cost::KernelModels*> Predictor::ServerModels(
    std::string_view server, std::string_view runtime_name) {
  ASSIGN_OR_RETURN(const CpuRuntime* runtime, FindCpuRuntime(runtime_name, {}));
  const std::string key = fmt::format("server {} {}", server, runtime->name);
  const auto found = models_.find(key);
  if (found != models_.end()) {
    return found->second.get();
  }
  ASSIGN_OR_RETURN(const hw::Node host, hw::FindServer(std::string(server)));
  const bool apart = IsApart(*runtime, host);
  hw::Device device = RuntimeDevice(*runtime, host, apart);
  if (!apart && !runtime->one_thread) {
    SpreadOverSockets(host, device);
  }
  return AddModels(key, device, 0);
}

Result<ModelPrediction> Predictor::PredictOnServers(
    const Request& request, workload::Settings settings,
    const PredictOptions& options) {
  ASSIGN_OR_RETURN(const hw::Node host, hw::FindServer(request.server));
  ASSIGN_OR_RETURN(const CpuRuntime* runtime,
                   FindCpuRuntime(request.runtime, settings.impl));
  const bool apart = IsApart(*runtime, host);
  const int ranks = request.nodes * (apart ? host.sockets : 1);
  RETURN_IF_ERROR(CheckRequest(request, ranks, settings.batch));
  settings.batch /= ranks;
  ASSIGN_OR_RETURN(Job job, BuildJob(request, settings, ranks));
  DropContext(job.memory);
  ASSIGN_OR_RETURN(const cost::KernelModels* models,
                   ServerModels(request.server, runtime->name));
  const std::string name = request.overheads.empty()
                               ? std::string(runtime->overheads)
                               : request.overheads;
  ASSIGN_OR_RETURN(const cost::OverheadTable* overheads, Overheads(name));
  ASSIGN_OR_RETURN(const hw::Cluster cluster,
                   ClusterOf(*runtime, host, request.nodes));
  PredictOptions how = options;
  how.system_spread = kServerSpread;
  if (ranks > 1) {
    ASSIGN_OR_RETURN(
        how.price.collectives.models,
        ServerCollectives(request.server, runtime->name, request.nodes));
    how.price.collectives.rank_counts = job.counts;
    how.price.collectives.ranks = ranks;
    how.price.collectives.nodes = request.nodes;
    how.price.collectives.staged = workload::ExchangesByNode(settings.impl);
  }
  ASSIGN_OR_RETURN(
      StepResult result,
      engine::Predict(
          {.graph = std::make_shared<const ir::Graph>(std::move(job.graph)),
           .models = models,
           .overheads = overheads},
          how));
  return ModelPrediction{
      .result = std::move(result),
      .memory = std::move(job.memory),
      .rank_bytes = std::move(job.rank_bytes),
      .memory_capacity = models->machine().device.dram_gb * kGiga,
      .overheads = name,
      .gpu = host.name,
      .runtime = std::string(runtime->name),
      .platform = {},
      .batch = settings.batch,
      .ranks = ranks,
      .power_w = cluster.power_w,
      .price_usd = cluster.price_usd};
}

}  // namespace stepcast::engine
