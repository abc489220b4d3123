// A model, how it is run and on what: things, no names to look up.
#ifndef STEPCAST_ENGINE_RUN_REQUEST_H_
#define STEPCAST_ENGINE_RUN_REQUEST_H_

#include <optional>
#include <string>

#include "base/named.h"
#include "cost/collectives/collective_models.h"
#include "cost/kernel_models.h"
#include "cost/overheads/overhead_table.h"
#include "engine/run/cpu_runtime.h"
#include "hw/cluster.h"
#include "hw/device.h"
#include "model/model.h"
#include "model/settings.h"
#include "model/tables/table_assignment.h"

namespace stepcast::engine {

/// What a step runs on.
struct Machine {
  /// As reports call them: the GPU, or the server where there is none, and the
  /// platform that was named or found.
  std::string gpu{};       // Empty: not known.
  std::string platform{};  // Empty: one GPU of no server in particular.
  /// A GPU as its platform connects it, or the part of a server that a process
  /// has.
  Named<hw::Device> device{};
  /// All servers, with the links of the GPU; none: of no server in particular.
  Named<hw::Cluster> cluster{};
  /// What runs the operators on servers without GPUs; null: there are GPUs.
  const CpuRuntime* runtime = nullptr;
  int ranks = 1;  // GPUs, or processes on servers without.
  int nodes = 1;
  /// The models of both; the latter of several ranks.
  const cost::KernelModels* kernels = nullptr;
  const cost::CollectiveModels* collectives = nullptr;

  bool has_gpus() const { return runtime == nullptr; }
};

struct Request {
  model::Model model{};
  /// The batch is of a GPU, or of all servers together; 0: the model's usual.
  model::Settings settings{};
  Machine machine{};
  /// Of the host's time, and the name of its set.
  Named<cost::OverheadTable> overheads{};
  /// Tables that are not worth the GPU's memory, if not all fit, are there:
  /// kHost or kRemote. Not given: they are where the model says. Without
  /// meaning on servers.
  std::optional<model::Placement> hybrid{};
  /// Which rank has which table; if not given, as the implementation assigns
  /// them.
  std::optional<model::TableAssignment> assignment{};
};

/// Whether no table needs a host's memory.
bool AllInHbm(const model::Model& model);

/// The processes of a runtime on servers without GPUs, called by the name that
/// the server was found by.
Result<Machine> ServerMachine(const Named<hw::Node>& server,
                              const CpuRuntime& runtime, int nodes);

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_RUN_REQUEST_H_
