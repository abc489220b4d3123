// Copies and launches: what the driver itself does.
#include <cstdlib>
#include <string>

#include "collect/cuda/cuda_cases.h"
#include "collect/cuda/cuda_memory.h"

namespace stepcast::collect {
namespace {

__global__ void EmptyKernel() {}

cudaError_t LaunchEmpty(cudaStream_t stream, int64_t /*copy*/) {
  EmptyKernel<<<1, 32, 0, stream>>>();
  return cudaGetLastError();
}

cudaMemcpyKind KindOf(const std::string& op) {
  if (op == "htod") {
    return cudaMemcpyHostToDevice;
  }
  return op == "dtoh" ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

}  // namespace

std::unique_ptr<Prepared> MakeCopyCase(const CudaContext& context,
                                       const Point& point, int64_t copies,
                                       std::string& why) {
  const bool is_pageable = point.host_memory == "pageable";
  const Memory device = AllocateDevice(point.bytes, why);
  const Memory other = point.op == "dtod" ? AllocateDevice(point.bytes, why)
                       : is_pageable      ? AllocatePageable(point.bytes)
                                          : AllocatePinned(point.bytes, why);
  if (device == nullptr || other == nullptr) {
    why = why.empty() ? "not enough memory of the host" : why;
    return nullptr;
  }
  const cudaMemcpyKind kind = KindOf(point.op);
  const bool to_other = point.op == "dtoh";
  const Memory to = to_other ? other : device;
  const Memory from = to_other ? device : other;
  const auto bytes = static_cast<size_t>(point.bytes);
  const Launch launch = [to, from, bytes, kind](cudaStream_t stream,
                                                int64_t /*copy*/) {
    return cudaMemcpyAsync(to.get(), from.get(), bytes, kind, stream);
  };
  // The driver copies pageable memory in chunks through a staging buffer, which
  // a graph cannot capture.
  return is_pageable ? MakeLoopTimer(context.stream, launch)
                     : MakeGraphTimer(context.stream, launch, copies, why);
}

std::unique_ptr<Prepared> MakeLaunchCase(const CudaContext& context,
                                         const Point& point, int64_t /*copies*/,
                                         std::string& why) {
  if (point.op == "empty_kernel") {
    return MakeLoopTimer(context.stream, LaunchEmpty);
  }
  if (point.op == "empty_kernel_sync") {
    return MakeLoopTimer(context.stream, [](cudaStream_t stream, int64_t copy) {
      const cudaError_t error = LaunchEmpty(stream, copy);
      return error == cudaSuccess ? cudaStreamSynchronize(stream) : error;
    });
  }
  if (point.op == "event_record") {
    cudaEvent_t made = nullptr;
    if (!Succeeded(cudaEventCreate(&made), why)) {
      return nullptr;
    }
    const std::shared_ptr<CUevent_st> event(
        made, [](cudaEvent_t gone) { cudaEventDestroy(gone); });
    return MakeLoopTimer(context.stream,
                         [event](cudaStream_t stream, int64_t /*copy*/) {
                           return cudaEventRecord(event.get(), stream);
                         });
  }
  // graph_100: a graph of so many empty kernels.
  const int64_t nodes =
      std::strtoll(point.op.c_str() + point.op.find('_') + 1, nullptr, 10);
  if (nodes < 1) {
    why = "no such launch";
    return nullptr;
  }
  const Launch graph =
      MakeGraphLaunch(context.stream, LaunchEmpty, nodes, 1, why);
  return graph ? MakeLoopTimer(context.stream, graph) : nullptr;
}

}  // namespace stepcast::collect
