#include "cost/machine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace stepcast::cost {
namespace {

struct CeilingField {
  std::string_view key;
  double hw::Device::*member = nullptr;
  bool is_limited_by_power = true;
};
constexpr std::array kCeilings = {
    CeilingField{"gemm_fp32_share", &hw::Device::gemm_fp32_share},
    CeilingField{"bmm_fp32_share", &hw::Device::bmm_fp32_share},
    CeilingField{"conv_fp32_share", &hw::Device::conv_fp32_share},
    CeilingField{"gemm_half_share", &hw::Device::gemm_half_share},
    CeilingField{"copy_share", &hw::Device::copy_share, false},
};

bool IsDerived(const hw::Device& device, std::string_view key) {
  return std::ranges::any_of(device.derived, [&](const std::string& note) {
    return note.starts_with(key);
  });
}

// How much of a card's share another one keeps whose clock is higher than its
// power. Large products run at the clock that the power limit leaves them: an
// SM's power is f V^2 and V grows with f, so that clock goes with the cube root
// of the power. Measured once: A100 with 300 and 400 W sustain 0.757 and 0.820
// of one peak, 1.08 apart; the root is 1.10. A card with more power gains
// nothing here, as its units may be what limits it.
double PowerFactor(const hw::Device& other, const hw::Device& device) {
  if (IsDerived(other, "tdp_w") || IsDerived(device, "tdp_w")) {
    return 1;
  }
  const double power =
      (device.tdp_w / device.sm_count) / (other.tdp_w / other.sm_count);
  const double clock = device.clock_ghz / other.clock_ghz;
  return std::min(1.0, std::cbrt(power) / clock);
}

}  // namespace

void ApplyCeilings(const Profile& profile, hw::Device& device) {
  for (const CeilingField& field : kCeilings) {
    const auto found = profile.ceilings.find(field.key);
    if (found != profile.ceilings.end()) {
      device.*field.member = found->second;
    }
  }
}

void KeepCeilings(const hw::Device& fitted, hw::Device& device) {
  for (const CeilingField& field : kCeilings) {
    if (device.*field.member == (*device.published).*field.member) {
      device.*field.member = fitted.*field.member;
    }
  }
}

void BorrowCeilings(const Profile& profile, const hw::Device& other,
                    hw::Device& device) {
  const double kept = PowerFactor(other, device);
  for (const CeilingField& field : kCeilings) {
    const auto found = profile.ceilings.find(field.key);
    if (found != profile.ceilings.end() && IsDerived(device, field.key)) {
      device.*field.member =
          found->second * (field.is_limited_by_power ? kept : 1);
    }
  }
}

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
