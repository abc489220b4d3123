// Memory of a GPU and of its host, freed with its owner, and CUDA's errors.
#ifndef STEPCAST_COLLECT_CUDA_CUDA_MEMORY_H_
#define STEPCAST_COLLECT_CUDA_CUDA_MEMORY_H_

#include <cstdint>
#include <memory>
#include <string>

#include <cuda_runtime.h>

namespace stepcast::collect {

/// True if all is well; else puts the error into `why`.
bool Succeeded(cudaError_t error, std::string& why);

/// Shared, so that what is launched can keep it alive.
using Memory = std::shared_ptr<void>;

/// Null and `why` if there is not enough.
Memory AllocateDevice(int64_t bytes, std::string& why);
Memory AllocatePinned(int64_t bytes, std::string& why);
/// Written once, so that its pages are there.
Memory AllocatePageable(int64_t bytes);

/// Numbers in [-1, 1) of a type, in place on the GPU: products of zeros draw
/// less power than those of a step, and run at higher clocks.
cudaError_t FillRandom(void* data, int64_t count, const std::string& dtype,
                       cudaStream_t stream);

}  // namespace stepcast::collect

#endif  // STEPCAST_COLLECT_CUDA_CUDA_MEMORY_H_
