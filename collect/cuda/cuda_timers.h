// Calls on a stream made ready to be timed: as a graph, or one by one.
#ifndef STEPCAST_COLLECT_CUDA_CUDA_TIMERS_H_
#define STEPCAST_COLLECT_CUDA_CUDA_TIMERS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <cuda_runtime.h>

#include "collect/cuda/device.h"

namespace stepcast::collect {

/// Enqueues one call with the operands of a set. Owns what it needs.
using Launch = std::function<cudaError_t(cudaStream_t stream, int64_t copy)>;

/// Captures calls, those of all `copies` in turn, and times replays by events:
/// no launch cost in it. Null and `why` if it cannot be captured.
std::unique_ptr<Prepared> MakeGraphTimer(cudaStream_t stream, Launch launch,
                                         int64_t copies, std::string& why);

/// Calls back to back, timed by the host's clock, waited for at the end.
std::unique_ptr<Prepared> MakeLoopTimer(cudaStream_t stream, Launch launch);

/// A graph of that many calls, as something to launch.
Launch MakeGraphLaunch(cudaStream_t stream, const Launch& launch, int64_t calls,
                       int64_t copies, std::string& why);

}  // namespace stepcast::collect

#endif  // STEPCAST_COLLECT_CUDA_CUDA_TIMERS_H_
