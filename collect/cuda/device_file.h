// The device as a file for stepcast, where it is not built in.
#ifndef STEPCAST_COLLECT_CUDA_DEVICE_FILE_H_
#define STEPCAST_COLLECT_CUDA_DEVICE_FILE_H_

#include <string>

#include "collect/cuda/budget.h"
#include "collect/cuda/device.h"

namespace stepcast::collect {

/// A name for files and rows: "NVIDIA H100 80GB HBM3" ->
/// "nvidia-h100-80gb-hbm3".
std::string NameOf(const std::string& title);

/// The fastest products and the fastest large copy that were measured, with
/// headroom: no kernel may be faster. 0: not measured.
struct Peaks {
  double fp32_tflops = 0;
  double tf32_tflops = 0;
  double fp16_tflops = 0;
  double bf16_tflops = 0;
  double dram_gbs = 0;
};
Peaks MeasurePeaks(Device& device, const Clock& clock);

/// The text of device.toml.
std::string DeviceFile(const std::string& name, const DeviceFacts& facts,
                       const Peaks& peaks);

}  // namespace stepcast::collect

#endif  // STEPCAST_COLLECT_CUDA_DEVICE_FILE_H_
