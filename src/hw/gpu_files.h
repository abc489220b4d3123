// The GPUs that are built in, and GPUs from files of the user.
#ifndef STEPCAST_HW_GPU_FILES_H_
#define STEPCAST_HW_GPU_FILES_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hw/device.h"
#include "hw/gpu.h"

namespace stepcast::hw {

/// Every built-in GPU, by name. Checks the files against each other.
Result<std::vector<Gpu>> LoadGpus();

/// A device by what the user calls it: a built-in name ("a100-sxm-80gb"), a
/// path ending in .toml, either followed by a locked clock
/// ("v100-sxm-16gb@1297MHz") or by figures that replace its own
/// ("h100-sxm-80gb@dram_gbs=6700,l2_mb=100"). An unknown name lists those that
/// may be meant.
Result<Device> FindDevice(std::string_view text);

/// The built-in names, sorted.
const std::vector<std::string>& GpuNames();

}  // namespace stepcast::hw

#endif  // STEPCAST_HW_GPU_FILES_H_
