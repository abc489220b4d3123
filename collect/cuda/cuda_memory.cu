#include <cstdlib>
#include <cstring>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "collect/cuda/cuda_memory.h"

namespace stepcast::collect {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocks = 1024;

template <typename T>
__device__ T FromFloat(float value) {
  return static_cast<T>(value);
}

template <>
__device__ __half FromFloat<__half>(float value) {
  return __float2half(value);
}

template <>
__device__ __nv_bfloat16 FromFloat<__nv_bfloat16>(float value) {
  return __float2bfloat16(value);
}

template <typename T>
__global__ void FillKernel(T* data, int64_t count) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < count; i += step) {
    // Knuth's multiplicative hash; the top 16 bits are the good ones.
    const unsigned mixed = static_cast<unsigned>(i) * 2654435761U;
    data[i] = FromFloat<T>(static_cast<float>(mixed >> 16U) / 32768.0F - 1.0F);
  }
}

}  // namespace

bool Succeeded(cudaError_t error, std::string& why) {
  if (error == cudaSuccess) {
    return true;
  }
  why = cudaGetErrorString(error);
  // Forgets errors that are not for good, such as too little memory.
  cudaGetLastError();
  return false;
}

Memory AllocateDevice(int64_t bytes, std::string& why) {
  void* data = nullptr;
  if (!Succeeded(cudaMalloc(&data, static_cast<size_t>(bytes)), why)) {
    return nullptr;
  }
  return Memory(data, [](void* memory) { cudaFree(memory); });
}

Memory AllocatePinned(int64_t bytes, std::string& why) {
  void* data = nullptr;
  if (!Succeeded(cudaMallocHost(&data, static_cast<size_t>(bytes)), why)) {
    return nullptr;
  }
  return Memory(data, [](void* memory) { cudaFreeHost(memory); });
}

Memory AllocatePageable(int64_t bytes) {
  void* data = std::malloc(static_cast<size_t>(bytes));
  if (data != nullptr) {
    std::memset(data, 1, static_cast<size_t>(bytes));
  }
  return Memory(data, [](void* memory) { std::free(memory); });
}

cudaError_t FillRandom(void* data, int64_t count, const std::string& dtype,
                       cudaStream_t stream) {
  if (dtype == "fp16") {
    FillKernel<<<kBlocks, kThreads, 0, stream>>>(static_cast<__half*>(data),
                                                 count);
  } else if (dtype == "bf16") {
    FillKernel<<<kBlocks, kThreads, 0, stream>>>(
        static_cast<__nv_bfloat16*>(data), count);
  } else {
    FillKernel<<<kBlocks, kThreads, 0, stream>>>(static_cast<float*>(data),
                                                 count);
  }
  return cudaGetLastError();
}

}  // namespace stepcast::collect
