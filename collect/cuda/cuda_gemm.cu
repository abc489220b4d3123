// Products by cuBLAS.
#include <utility>
#include <vector>

#include "collect/cuda/cuda_cases.h"
#include "collect/cuda/cuda_memory.h"

namespace stepcast::collect {
namespace {

struct Operands {
  Memory a{};
  Memory b{};
  Memory c{};
};

cudaDataType TypeOf(const std::string& dtype) {
  if (dtype == "fp16") {
    return CUDA_R_16F;
  }
  return dtype == "bf16" ? CUDA_R_16BF : CUDA_R_32F;
}

// Sums are FP32, as frameworks have them.
cublasComputeType_t ComputeOf(const std::string& dtype) {
  return dtype == "tf32" ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

Memory RandomMatrix(const CudaContext& context, const Point& p, int64_t count,
                    std::string& why) {
  Memory memory = AllocateDevice(count * SizeOf(p.dtype), why);
  if (memory != nullptr &&
      !Succeeded(FillRandom(memory.get(), count, p.dtype, context.stream),
                 why)) {
    return nullptr;
  }
  return memory;
}

// cuBLAS has columns first, we have rows: C' = B' A' with the same bytes.
cublasStatus_t Multiply(const CudaContext& context, const Point& p,
                        const Operands& operands) {
  const bool b_is_transposed = p.op == "tn";  // Stored [n, k].
  const bool a_is_transposed = p.op == "nt";  // Stored [k, m].
  const auto m = static_cast<int>(p.m);
  const auto n = static_cast<int>(p.n);
  const auto k = static_cast<int>(p.k);
  const float one = 1;
  const float zero = 0;
  const cudaDataType type = TypeOf(p.dtype);
  return cublasGemmStridedBatchedEx(
      context.blas, b_is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
      a_is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, n, m, k, &one,
      operands.b.get(), type, b_is_transposed ? k : n, p.k * p.n,
      operands.a.get(), type, a_is_transposed ? m : k, p.m * p.k, &zero,
      operands.c.get(), type, n, p.m * p.n, static_cast<int>(p.batch),
      ComputeOf(p.dtype), CUBLAS_GEMM_DEFAULT);
}

}  // namespace

std::unique_ptr<Prepared> MakeGemmCase(const CudaContext& context,
                                       const Point& point, int64_t copies,
                                       std::string& why) {
  std::vector<Operands> sets;
  for (int64_t i = 0; i < copies; ++i) {
    Operands set;
    set.a = RandomMatrix(context, point, point.batch * point.m * point.k, why);
    set.b = RandomMatrix(context, point, point.batch * point.k * point.n, why);
    set.c = AllocateDevice(
        point.batch * point.m * point.n * SizeOf(point.dtype), why);
    if (set.a == nullptr || set.b == nullptr || set.c == nullptr) {
      return nullptr;
    }
    sets.push_back(std::move(set));
  }
  const Launch launch = [context, point, sets](cudaStream_t /*stream*/,
                                               int64_t copy) {
    const auto set = static_cast<size_t>(copy);
    return Multiply(context, point, sets[set]) == CUBLAS_STATUS_SUCCESS
               ? cudaSuccess
               : cudaErrorNotSupported;
  };
  return MakeGraphTimer(context.stream, launch, copies, why);
}

}  // namespace stepcast::collect
