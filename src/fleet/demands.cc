#include "fleet/demands.h"

#include <algorithm>
#include <span>
#include <string>

#include <fmt/format.h>

#include "base/units.h"
#include "cost/kernels/cpu_kernels.h"
#include "cost/kernels/family.h"
#include "ir/graph.h"
#include "workload/build_graph.h"
#include "workload/embedding_stats.h"
#include "workload/memory.h"
#include "workload/shapes.h"

namespace stepcast::fleet {
namespace {

constexpr double kFp32Bytes = 4;
constexpr double kIdBytes = 4;  // Hashed: a table has fewer than 2^32 rows.
// Behind headers of frames and TCP.
constexpr double kNetworkShare = 0.9;
// There and back through two kernels and a switch.
constexpr double kWireUs = 50;
// A request and its answer, on a core of the server: two system calls, the
// message taken apart and put together (gRPC and Thrift, 20 to 50 us each).
constexpr double kMessageUs = 40;
// Bytes that a core puts into or takes out of messages, a microsecond: copied
// twice on the way to a socket.
constexpr double kMessageRate = 4e3;

// The graph of what a trainer computes: the model with its tables away.
Result<ir::Graph> TrainerGraph(const workload::Model& model,
                               const workload::Settings& settings) {
  if (model.kind != workload::ModelKind::kDlrm || model.tables.empty()) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("{} is no model with tables and MLPs; expected a "
                            "dlrm model for a fleet of CPU servers",
                            model.name));
  }
  workload::Model away = model;
  for (workload::TableGroup& group : away.tables) {
    group.placement = workload::Placement::kRemote;
  }
  workload::Settings how = settings;
  how.impl = workload::DefaultImplementation();
  return workload::BuildGraph(away, how);
}

// Waiting for servers and copies to a device are no work of a trainer's core.
bool IsCompute(const ir::GraphData& data, const ir::Work& work) {
  const ir::KernelShape& shape = data.shapes[work.shape];
  return !std::holds_alternative<ir::Copy>(shape) &&
         !std::holds_alternative<ir::Collective>(shape) && ir::IsSized(shape);
}

void AddLoad(const ir::KernelShape& shape, const cost::Machine& machine,
             Demand& demand) {
  const cost::Family* family = cost::FindFamily(shape);
  if (family == nullptr) {
    return;
  }
  demand.core_us += cost::BaseOn(*family, shape, machine).time_us;
  if (const auto load = cost::CpuLoadOf(shape, machine)) {
    demand.dram_bytes += cost::DramBytes(*load, machine);
  }
}

// Lookups and updates of one iteration, in core time and bytes: a core does a
// request, so nothing is shared out within one.
Demand SparseDemand(const workload::Model& model,
                    const workload::Settings& settings, int64_t batch,
                    const cost::Machine& machine) {
  workload::LookupOptions how{.batch = batch};
  how.alpha = workload::CommonAlpha(model.tables, batch, settings.seed);
  ir::EmbeddingBag bag = workload::Lookup(model.tables, how);
  Demand demand;
  AddLoad(bag, machine, demand);
  if (settings.mode == workload::Mode::kTrain) {
    bag.pass = ir::Pass::kBackward;
    bag.update = workload::UpdateOf(model.table_optimizer);
    AddLoad(bag, machine, demand);
  }
  return demand;
}

double DenseParameters(const workload::Model& model) {
  double count = 0;
  const auto layers = [&](int64_t columns, std::span<const int64_t> widths) {
    for (const int64_t width : widths) {
      count += static_cast<double>((columns + 1) * width);
      columns = width;
    }
  };
  layers(model.dense_features, model.bottom_mlp);
  const int64_t width = workload::InteractionWidth(model);
  layers(width, model.top_mlp);
  count += static_cast<double>(model.interaction.cross_layers * 2 *
                               model.interaction.cross_rank * width);
  return count;
}

// What a thread holds between its forward and its backward pass.
double ActivationBytes(const workload::Model& model,
                       const workload::Settings& settings,
                       const ir::Graph& graph) {
  const workload::Memory memory =
      workload::MemoryOf(model, settings, graph, {.table_share = 0});
  for (const workload::MemoryPart& part : memory.parts) {
    if (part.name == "activations") {
      return part.bytes;
    }
  }
  return 0;
}

cost::Machine OneThread(const hw::Node& host, int threads) {
  return {.device = hw::MakeCpuDevice(
              host, hw::OneOf(host, std::min(threads, host.cores())))};
}

}  // namespace

double Demand::NetworkUs(double nic_gbs) const {
  return std::max(in_bytes, out_bytes) / (kNetworkShare * nic_gbs * kKilo);
}

Result<Demands> FindDemands(const workload::Model& model,
                            const workload::Settings& settings,
                            const IterationShape& shape,
                            const hw::Node& trainer, const hw::Node& sparse) {
  workload::Settings how = settings;
  how.batch = shape.batch;
  ASSIGN_OR_RETURN(const ir::Graph graph, TrainerGraph(model, how));
  const ir::GraphData& data = graph.data();
  const bool train = settings.mode == workload::Mode::kTrain;
  const auto batch = static_cast<double>(shape.batch);
  Demands demands;
  const cost::Machine core = OneThread(trainer, shape.threads);
  for (const ir::Work& work : data.works) {
    if (IsCompute(data, work)) {
      AddLoad(data.shapes[work.shape], core, demands.trainer);
    }
  }
  // A busy sparse server has a request on every core.
  demands.sparse = SparseDemand(model, settings, shape.batch,
                                OneThread(sparse, sparse.cores()));
  const double ids = kIdBytes * static_cast<double>(workload::LookupsOf(
                                    model.tables, shape.batch));
  const double vectors =
      kFp32Bytes * batch * static_cast<double>(workload::EmbeddingWidth(model));
  const double gradients = train ? vectors : 0;
  const double parameters = kFp32Bytes * DenseParameters(model);
  // The threads of a trainer share one copy, which is averaged once while each
  // of them does so many iterations.
  const double averagings =
      train ? 1.0 / (static_cast<double>(shape.sync_every) * shape.threads) : 0;
  const double averaged = parameters * averagings;
  const double read =
      ids + kFp32Bytes * batch * static_cast<double>(model.dense_features + 1);
  demands.sparse.in_bytes = ids + gradients;
  demands.sparse.out_bytes = vectors;
  demands.dense.in_bytes = averaged;
  demands.dense.out_bytes = averaged;
  demands.dense.dram_bytes = 3 * averaged;  // Read, averaged, written.
  demands.trainer.in_bytes = read + vectors + averaged;
  demands.trainer.out_bytes = ids + gradients + averaged;
  for (Demand* demand : {&demands.trainer, &demands.sparse, &demands.dense}) {
    const double bytes = demand->in_bytes + demand->out_bytes;
    demand->core_us += bytes / kMessageRate;
    demand->dram_bytes += 2 * bytes;  // Written by one side, read by the other.
  }
  demands.sparse_message_us = kMessageUs * (train ? 2 : 1);
  demands.dense_message_us = kMessageUs * averagings;
  demands.wire_us = kWireUs * ((train ? 2 : 1) + averagings);
  demands.table_bytes = workload::TableBytes(model, settings);
  demands.dense_bytes = 2 * parameters;
  demands.trainer_bytes =
      2 * parameters +
      shape.threads * (read + 2 * vectors + ActivationBytes(model, how, graph));
  return demands;
}

}  // namespace stepcast::fleet
