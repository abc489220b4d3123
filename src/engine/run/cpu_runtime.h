// The software that runs operators on a server's processors: how many threads
// it has and what it reaches of the peaks.
#ifndef STEPCAST_ENGINE_RUN_CPU_RUNTIME_H_
#define STEPCAST_ENGINE_RUN_CPU_RUNTIME_H_

#include <span>
#include <string_view>

#include "base/result.h"
#include "hw/cpu_device.h"

namespace stepcast::engine {

struct CpuRuntime {
  std::string_view name;
  std::string_view help;
  std::string_view overheads;  // The set of the host's time.
  bool one_thread = false;     // An operator runs on one core.
  bool per_socket = false;     // One process per socket, else per server.
  // Shares of the peaks that large products reach.
  double gemm_share = 0;
  double batched_share = 0;  // Of many small ones.
  double matrix_share = 0;   // On BF16 units.
  double team_us = 0;        // To start the threads of a loop, and to wait.
};

/// Every runtime, in the order they are shown.
std::span<const CpuRuntime> CpuRuntimes();

/// The runtime of that name. An unknown one lists those that are known.
Result<const CpuRuntime*> FindCpuRuntime(std::string_view name);

/// A device of the part of a host that one process of the runtime has.
hw::Device RuntimeDevice(const CpuRuntime& runtime, const hw::Node& host,
                         bool sockets_apart);

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_RUN_CPU_RUNTIME_H_
