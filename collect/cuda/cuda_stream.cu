// Streams through memory: kernels of next to no arithmetic.
#include <algorithm>
#include <utility>
#include <vector>

#include "collect/cuda/cuda_cases.h"
#include "collect/cuda/cuda_memory.h"

namespace stepcast::collect {
namespace {

constexpr int kThreads = 256;
// Blocks at the most; threads go on in steps of the grid. Fills every GPU of
// today (160 SMs of 8 such blocks) some times over.
constexpr int64_t kMostBlocks = 8192;

enum class Stream { kRead, kWrite, kCopy, kAdd };

struct Buffers {
  Memory a{};
  Memory b{};
  Memory out{};
};

template <Stream kStream>
__global__ void StreamKernel(const float4* a, const float4* b, float4* out,
                             int64_t count) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  float sum = 0;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < count; i += step) {
    if (kStream == Stream::kRead) {
      const float4 value = a[i];
      sum += value.x + value.y + value.z + value.w;
    } else if (kStream == Stream::kWrite) {
      out[i] = make_float4(1, 2, 3, 4);
    } else if (kStream == Stream::kCopy) {
      out[i] = a[i];
    } else {
      const float4 x = a[i];
      const float4 y = b[i];
      out[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    }
  }
  // Never so, since all numbers are in [-1, 1), but the compiler cannot know:
  // the reads stay.
  if (kStream == Stream::kRead && sum > 1e30F) {
    out[0] = make_float4(sum, 0, 0, 0);
  }
}

cudaError_t LaunchStream(Stream kind, const Buffers& set, int64_t count,
                         cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(
      std::min(kMostBlocks, (count + kThreads - 1) / kThreads));
  const auto* a = static_cast<const float4*>(set.a.get());
  const auto* b = static_cast<const float4*>(set.b.get());
  auto* out = static_cast<float4*>(set.out.get());
  switch (kind) {
    case Stream::kRead:
      StreamKernel<Stream::kRead>
          <<<blocks, kThreads, 0, stream>>>(a, b, out, count);
      break;
    case Stream::kWrite:
      StreamKernel<Stream::kWrite>
          <<<blocks, kThreads, 0, stream>>>(a, b, out, count);
      break;
    case Stream::kCopy:
      StreamKernel<Stream::kCopy>
          <<<blocks, kThreads, 0, stream>>>(a, b, out, count);
      break;
    case Stream::kAdd:
      StreamKernel<Stream::kAdd>
          <<<blocks, kThreads, 0, stream>>>(a, b, out, count);
      break;
  }
  return cudaGetLastError();
}

Stream StreamOf(const std::string& op) {
  if (op == "read") {
    return Stream::kRead;
  }
  if (op == "write") {
    return Stream::kWrite;
  }
  return op == "add" ? Stream::kAdd : Stream::kCopy;
}

}  // namespace

std::unique_ptr<Prepared> MakeStreamCase(const CudaContext& context,
                                         const Point& point, int64_t copies,
                                         std::string& why) {
  const Stream kind = StreamOf(point.op);
  // Numbers of one operand. The bytes of a bandwidth are those of the place
  // that is gone through: half of it each for the two of a copy.
  const int64_t numbers = point.kind == Kind::kElementwise
                              ? point.rows * point.dim
                              : point.bytes / 4 / (point.op == "copy" ? 2 : 1);
  if (numbers % 4 != 0) {
    why = "a stream has a multiple of 4 numbers";
    return nullptr;
  }
  std::vector<Buffers> sets;
  for (int64_t i = 0; i < copies; ++i) {
    Buffers set;
    set.a = AllocateDevice(4 * numbers, why);
    set.b = kind == Stream::kAdd ? AllocateDevice(4 * numbers, why) : set.a;
    set.out = AllocateDevice(4 * numbers, why);
    if (set.a == nullptr || set.b == nullptr || set.out == nullptr) {
      return nullptr;
    }
    for (const Memory& memory : {set.a, set.b}) {
      if (!Succeeded(FillRandom(memory.get(), numbers, "fp32", context.stream),
                     why)) {
        return nullptr;
      }
    }
    sets.push_back(std::move(set));
  }
  const Launch launch = [kind, sets, numbers](cudaStream_t stream,
                                              int64_t copy) {
    return LaunchStream(kind, sets[static_cast<size_t>(copy)], numbers / 4,
                        stream);
  };
  return MakeGraphTimer(context.stream, launch, copies, why);
}

}  // namespace stepcast::collect
