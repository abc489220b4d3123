// Lookups that sum rows of a table, and their gradients added to the rows.
#include <algorithm>
#include <utility>
#include <vector>

#include "collect/cuda/cuda_cases.h"
#include "collect/cuda/cuda_memory.h"
#include "collect/cuda/device.h"

namespace stepcast::collect {
namespace {

// Each thread reads four values of a row; this many threads per block.
constexpr int kThreads = 256;

// Sizes of a bag, in float4 where it is about columns.
struct BagSizes {
  int64_t bags = 0;
  int64_t ids_per_bag = 0;
  int64_t columns = 0;
};

// blockDim.x threads share a row, blockDim.y rows per block.
__global__ void GatherKernel(const float4* table, const int64_t* ids,
                             BagSizes sizes, float4* out) {
  const int64_t bag =
      static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  if (bag >= sizes.bags) {
    return;
  }
  const int64_t* own = ids + bag * sizes.ids_per_bag;
  for (int64_t c = threadIdx.x; c < sizes.columns; c += blockDim.x) {
    float4 sum = make_float4(0, 0, 0, 0);
    for (int64_t i = 0; i < sizes.ids_per_bag; ++i) {
      const float4 row = table[own[i] * sizes.columns + c];
      sum.x += row.x;
      sum.y += row.y;
      sum.z += row.z;
      sum.w += row.w;
    }
    out[bag * sizes.columns + c] = sum;
  }
}

__global__ void ScatterAddKernel(const float4* gradient, const int64_t* ids,
                                 BagSizes sizes, float* table) {
  // Small, so that sums of many calls stay numbers.
  constexpr float kRate = -1e-6F;
  const int64_t bag =
      static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  if (bag >= sizes.bags) {
    return;
  }
  const int64_t* own = ids + bag * sizes.ids_per_bag;
  for (int64_t c = threadIdx.x; c < sizes.columns; c += blockDim.x) {
    const float4 value = gradient[bag * sizes.columns + c];
    for (int64_t i = 0; i < sizes.ids_per_bag; ++i) {
      float* row = table + 4 * (own[i] * sizes.columns + c);
      atomicAdd(row, kRate * value.x);
      atomicAdd(row + 1, kRate * value.y);
      atomicAdd(row + 2, kRate * value.z);
      atomicAdd(row + 3, kRate * value.w);
    }
  }
}

struct BagCase {
  Memory table{};
  Memory values{};  // Results, or gradients.
  std::vector<Memory> ids{};
  BagSizes sizes{};
  bool is_backward = false;
};

cudaError_t LaunchBag(const BagCase& bag, cudaStream_t stream, int64_t copy) {
  const auto lanes =
      static_cast<unsigned>(std::min<int64_t>(bag.sizes.columns, kThreads));
  const dim3 threads(lanes, kThreads / lanes);
  const auto blocks =
      static_cast<unsigned>((bag.sizes.bags + threads.y - 1) / threads.y);
  const auto* ids =
      static_cast<const int64_t*>(bag.ids[static_cast<size_t>(copy)].get());
  if (bag.is_backward) {
    ScatterAddKernel<<<blocks, threads, 0, stream>>>(
        static_cast<const float4*>(bag.values.get()), ids, bag.sizes,
        static_cast<float*>(bag.table.get()));
  } else {
    GatherKernel<<<blocks, threads, 0, stream>>>(
        static_cast<const float4*>(bag.table.get()), ids, bag.sizes,
        static_cast<float4*>(bag.values.get()));
  }
  return cudaGetLastError();
}

// The ids of all sets, on the GPU; fewer if there was an error.
std::vector<Memory> PlaceIds(const Point& point, int64_t copies,
                             std::string& why) {
  std::vector<Memory> placed;
  for (int64_t i = 0; i < copies; ++i) {
    const std::vector<int64_t> ids = IdsOf(point, i);
    const size_t bytes = ids.size() * sizeof(int64_t);
    Memory memory = AllocateDevice(static_cast<int64_t>(bytes), why);
    if (memory == nullptr ||
        !Succeeded(
            cudaMemcpy(memory.get(), ids.data(), bytes, cudaMemcpyHostToDevice),
            why)) {
      break;
    }
    placed.push_back(std::move(memory));
  }
  return placed;
}

}  // namespace

std::unique_ptr<Prepared> MakeBagCase(const CudaContext& context,
                                      const Point& point, int64_t copies,
                                      std::string& why) {
  if (point.dtype != "fp32" || point.dim % 4 != 0) {
    why = "tables are of fp32 with a multiple of 4 columns";
    return nullptr;
  }
  BagCase bag;
  const bool is_pooled = point.pooling != "none";
  bag.sizes.bags = is_pooled ? point.batch : point.batch * point.lookups;
  bag.sizes.ids_per_bag = is_pooled ? point.lookups : 1;
  bag.sizes.columns = point.dim / 4;
  bag.is_backward = point.op == "bwd";
  const int64_t row_bytes = point.dim * SizeOf(point.dtype);
  bag.table = AllocateDevice(point.rows * row_bytes, why);
  bag.values = AllocateDevice(bag.sizes.bags * row_bytes, why);
  bag.ids = PlaceIds(point, copies, why);
  if (bag.table == nullptr || bag.values == nullptr ||
      bag.ids.size() != static_cast<size_t>(copies)) {
    return nullptr;
  }
  if (!Succeeded(FillRandom(bag.table.get(), point.rows * point.dim,
                            point.dtype, context.stream),
                 why) ||
      !Succeeded(FillRandom(bag.values.get(), bag.sizes.bags * point.dim,
                            point.dtype, context.stream),
                 why)) {
    return nullptr;
  }
  const Launch launch = [bag](cudaStream_t stream, int64_t copy) {
    return LaunchBag(bag, stream, copy);
  };
  return MakeGraphTimer(context.stream, launch, copies, why);
}

}  // namespace stepcast::collect
