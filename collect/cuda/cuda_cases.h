// The calls of each kind of point on a GPU.
#ifndef STEPCAST_COLLECT_CUDA_CUDA_CASES_H_
#define STEPCAST_COLLECT_CUDA_CUDA_CASES_H_

#include <cstdint>
#include <memory>
#include <string>

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include "collect/cuda/cuda_timers.h"
#include "collect/cuda/device.h"
#include "collect/cuda/point.h"

namespace stepcast::collect {

/// What cases run on.
struct CudaContext {
  cudaStream_t stream = nullptr;
  cublasHandle_t blas = nullptr;
};

/// A case of each kind. Null and `why` if it cannot run here.
using MakeCase = std::unique_ptr<Prepared>(const CudaContext& context,
                                           const Point& point, int64_t copies,
                                           std::string& why);
MakeCase MakeGemmCase;
MakeCase MakeBagCase;
MakeCase MakeStreamCase;  // Elementwise and bandwidth.
MakeCase MakeCopyCase;
MakeCase MakeLaunchCase;

}  // namespace stepcast::collect

#endif  // STEPCAST_COLLECT_CUDA_CUDA_CASES_H_
