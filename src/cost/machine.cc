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

namespace {

// Matrix units have one ceiling for all; the vector units' is `fp32_share`.
double Sustained(const Machine& machine, ir::DType dtype, double fp32_share) {
  const double peak = machine.peak_gemm_rate(dtype);
  const bool matrix_units = peak > machine.vector_rate();
  return peak * (matrix_units ? machine.device.gemm_half_share : fp32_share);
}

}  // namespace

double Machine::gemm_rate(ir::DType dtype) const {
  return Sustained(*this, dtype, device.gemm_fp32_share);
}

double Machine::batched_gemm_rate(ir::DType dtype) const {
  return Sustained(*this, dtype, device.bmm_fp32_share);
}

double Machine::convolution_rate(ir::DType dtype) const {
  return Sustained(*this, dtype, device.conv_fp32_share);
}

}  // namespace stepcast::cost
