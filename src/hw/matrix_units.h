// Which types a device's matrix units compute in.
#ifndef STEPCAST_HW_MATRIX_UNITS_H_
#define STEPCAST_HW_MATRIX_UNITS_H_

#include "hw/device.h"

namespace stepcast::hw {

/// Where there are none, products run as in FP32 (device.cc).
inline bool HasTf32(const Device& device) {
  return device.tf32_tflops > device.fp32_tflops;
}
inline bool HasBf16(const Device& device) {
  return device.bf16_tflops > device.fp32_tflops;
}

}  // namespace stepcast::hw

#endif  // STEPCAST_HW_MATRIX_UNITS_H_
