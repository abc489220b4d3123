#include "cost/machine.h"

namespace stepcast::cost {

double Machine::peak_gemm_rate(ir::DType dtype) const {
  switch (dtype) {
    case ir::DType::kTf32:
      return device.tf32_tflops * 1e6;
    case ir::DType::kFp16:
      return device.fp16_tflops * 1e6;
    case ir::DType::kBf16:
      return device.bf16_tflops * 1e6;
    default:
      return device.fp32_tflops * 1e6;
  }
}

double Machine::gemm_rate(ir::DType dtype) const {
  const bool matrix_units = peak_gemm_rate(dtype) > vector_rate();
  return peak_gemm_rate(dtype) *
         (matrix_units ? device.gemm_half_share : device.gemm_fp32_share);
}

}  // namespace stepcast::cost
