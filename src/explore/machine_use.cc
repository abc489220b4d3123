#include "explore/machine_use.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "hw/cluster.h"
#include "ir/shape.h"

namespace stepcast::explore {
namespace {

// Bytes that the rank with most moves in a step.
struct HostBytes {
  double memory = 0;   // Within the host's memory.
  double network = 0;  // To and from parameter servers.
};

HostBytes BytesOf(const ir::GraphData& data) {
  std::vector<HostBytes> ranks(data.ranks.size());
  for (const ir::WorkId id : data.works.ids()) {
    const ir::Work& work = data.works[id];
    HostBytes& bytes = ranks[data.streams[work.stream].rank.value];
    const ir::KernelShape& shape = data.shapes[work.shape];
    if (const auto* copy = std::get_if<ir::Copy>(&shape)) {
      bytes.memory += copy->kind == ir::CopyKind::kHostToHost
                          ? static_cast<double>(copy->bytes.count)
                          : 0;
    } else if (const auto* message = std::get_if<ir::Collective>(&shape)) {
      bytes.network += message->kind == ir::CollectiveKind::kSendRecv
                           ? static_cast<double>(message->bytes.count)
                           : 0;
    }
  }
  HostBytes most;
  for (const HostBytes& bytes : ranks) {
    most.memory = std::max(most.memory, bytes.memory);
    most.network = std::max(most.network, bytes.network);
  }
  return most;
}

}  // namespace

void FillMachineUse(const scenario::Job& job,
                    const engine::ModelPrediction& predicted, Row& row) {
  const engine::Machine& machine = job.request.machine;
  if (!machine.has_gpus() || !machine.cluster) {
    return;
  }
  const hw::Cluster* const cluster = machine.cluster.value.get();
  constexpr double kBytesAUs = 1e3;  // Of one GB/s.
  const HostBytes bytes = BytesOf(predicted.result.graph->data());
  const double step_us = row.at(Number::kStepUs);
  const double ranks = cluster->gpus_per_node;
  if (bytes.memory > 0) {
    row.at(Number::kTrainerMemory) =
        bytes.memory * ranks / (step_us * cluster->node.memory_gbs * kBytesAUs);
  }
  const double nic_gbs = cluster->node.nics * cluster->node.nic_gbs;
  if (bytes.network > 0 && nic_gbs > 0) {
    row.at(Number::kTrainerNetwork) =
        bytes.network * ranks / (step_us * nic_gbs * kBytesAUs);
  }
}

}  // namespace stepcast::explore
