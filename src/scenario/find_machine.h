// The machine that names mean.
#ifndef STEPCAST_SCENARIO_FIND_MACHINE_H_
#define STEPCAST_SCENARIO_FIND_MACHINE_H_

#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/run/request.h"
#include "ir/graph.h"

namespace stepcast::scenario {

/// What was asked for, by name or file (of `stepcast list`).
struct MachineNames {
  std::string gpu{};       // Empty: the platform's.
  std::string platform{};  // Empty: one that has the GPU, if one is needed.
  std::string server{};    // Without GPUs, instead of both.
  std::string runtime{};   // Of operators there; empty: the implementation's.
  int gpus = 1;            // Over all nodes.
  int nodes = 1;
};

/// Finds it, without its models. `impl` is what runs there; `needs_host` says
/// that tables are outside of the GPUs' memory. With more than one GPU, or with
/// a platform, the servers are those of the platform; where none is named, the
/// smallest that has the GPU. Nodes are all that the GPUs take where one is
/// asked for and its links go on to others.
Result<engine::Machine> FindMachine(const MachineNames& names,
                                    const model::Implementation& impl,
                                    bool needs_host);

/// A GPU alone, as of a recording.
Result<Named<hw::Device>> FindGpu(std::string_view name);

/// Of a recorded step, whose GPU may be unknown (empty). Its servers are those
/// that were named, or the smallest whose GPUs have the same chip.
Result<engine::Machine> MachineOfSteps(std::string_view gpu,
                                       std::string_view platform,
                                       const ir::GraphData& data);

}  // namespace stepcast::scenario

#endif  // STEPCAST_SCENARIO_FIND_MACHINE_H_
