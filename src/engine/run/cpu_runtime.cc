#include "engine/run/cpu_runtime.h"

#include <algorithm>
#include <vector>

#include "base/text/nearest.h"

namespace stepcast::engine {
namespace {

// docs/models/cpu_device.md says where the shares are from, and on what data
// they were chosen.
constexpr CpuRuntime kRuntimes[] = {
    {.name = "pytorch",
     .help = "eager PyTorch, one process per server",
     .overheads = "cpu-pytorch",
     .gemm_share = 0.65,
     .batched_share = 0.15,
     .matrix_share = 0.25,
     .team_us = 10},
    {.name = "ipex",
     .help = "PyTorch with Intel's extension, one process per socket",
     .overheads = "cpu-pytorch",
     .per_socket = true,
     .gemm_share = 0.65,
     .batched_share = 0.15,
     .matrix_share = 0.35,
     .team_us = 10},
    {.name = "torchscript",
     .help = "TorchScript inside Triton, whose threads outnumber the cores",
     .overheads = "cpu-triton",
     .gemm_share = 0.65,
     .batched_share = 0.15,
     .matrix_share = 0.25,
     .team_us = 1600},
    {.name = "onnx",
     .help = "ONNX Runtime inside Triton, one thread per operator",
     .overheads = "cpu-triton",
     .one_thread = true,
     .gemm_share = 0.75,
     .batched_share = 0.35,
     .matrix_share = 0.25},
    {.name = "tensorflow",
     .help = "TensorFlow with Eigen's products",
     .overheads = "cpu-tensorflow",
     .gemm_share = 0.35,
     .batched_share = 0.05,
     .matrix_share = 0.1,
     .team_us = 10},
    {.name = "onednn",
     .help = "TensorFlow with oneDNN's products (DeepRec)",
     .overheads = "cpu-tensorflow",
     .gemm_share = 0.65,
     .batched_share = 0.15,
     .matrix_share = 0.35,
     .team_us = 10},
};

}  // namespace

std::span<const CpuRuntime> CpuRuntimes() {
  return kRuntimes;
}

Result<const CpuRuntime*> FindCpuRuntime(std::string_view name) {
  const auto found = std::ranges::find(kRuntimes, name, &CpuRuntime::name);
  if (found != std::ranges::end(kRuntimes)) {
    return &*found;
  }
  std::vector<std::string_view> names;
  for (const CpuRuntime& runtime : kRuntimes) {
    names.push_back(runtime.name);
  }
  return Fail(ErrorCode::kInvalidInput, Unknown("runtime", name, names));
}

hw::Device RuntimeDevice(const CpuRuntime& runtime, const hw::Node& host,
                         bool sockets_apart) {
  hw::CpuShare part = sockets_apart ? hw::OneSocket(host) : hw::WholeNode(host);
  if (sockets_apart) {
    part.cores = std::max(part.cores - hw::kExchangeCores, 1.0);
  }
  if (runtime.one_thread) {
    part.cores = 1;
    part.busy_cores = 1;
  }
  hw::Device device = hw::MakeCpuDevice(host, part);
  device.gemm_fp32_share = runtime.gemm_share;
  device.bmm_fp32_share = runtime.batched_share;
  device.conv_fp32_share = runtime.batched_share;
  device.gemm_half_share = runtime.matrix_share;
  device.team_us = runtime.one_thread ? 0 : runtime.team_us;
  return device;
}

}  // namespace stepcast::engine
