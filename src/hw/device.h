// What kernels run on: a GPU, or the share of a server's processors that a
// process has (cpu_device.h). What is published of it, and every number that a
// formula may ask for: published where it is known, derived by a stated rule
// where it is not.
#ifndef STEPCAST_HW_DEVICE_H_
#define STEPCAST_HW_DEVICE_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hw/figures.h"

namespace stepcast::hw {

/// GPU families whose kernels behave alike.
enum class Generation {
  kPascal,
  kVolta,
  kTuring,
  kAmpere,
  kAda,
  kHopper,
  kBlackwell,
  kCdna,
  kCpu,  // A processor that runs PyTorch's operators itself.
};

/// "volta", as in the files.
std::string_view Name(Generation generation);
std::optional<Generation> GenerationFromName(std::string_view name);

struct Device {
  std::string name{};   // "v100-pcie-32gb", also the file's name.
  std::string title{};  // What the driver calls it.
  std::string chip{};   // "GV100": GPUs of one chip share kernels.
  Generation generation = Generation::kPascal;
  std::string dram_type{};  // "HBM2"
  std::string like{};  // A GPU of the same chip that fills what is unknown.
  std::string notes{};
  /// GPUs whose fitted kernel models serve this one where it has none itself.
  std::vector<std::string> borrow{};
  Figures figures{};  // What is published.

  double sm_count = 0;
  double fp32_lanes_per_sm = 0;
  double clock_ghz = 0;
  double fp32_tflops = 0;
  double tf32_tflops = 0;  // fp32_tflops where there is no such unit.
  double fp16_tflops = 0;  // Matrix units; twice fp32 on Pascal's GP100.
  double bf16_tflops = 0;  // fp32_tflops where there is no such unit.
  double dram_gb = 0;
  double dram_gbs = 0;
  bool stacked_memory = false;  // HBM, not GDDR.
  double l2_mb = 0;
  double smem_per_sm_kb = 0;
  double nvlink_gbs = 0;  // 0: no link known.
  double pcie_gbs = 0;    // One direction, of 16 lanes, after encoding.
  double tdp_w = 0;
  // Of a server's processors; 0 of devices that were measured.
  double team_us = 0;   // To start all threads on an operator and to wait.
  double core_gbs = 0;  // What one core moves from and to memory.
  // What large kernels sustain, as a share of the peaks above.
  double gemm_fp32_share = 0;
  double bmm_fp32_share = 0;
  double conv_fp32_share = 0;
  double gemm_half_share = 0;
  double copy_share = 0;

  /// What was not published: "l2_mb: generation's usual", ...
  std::vector<std::string> derived{};
  /// As published, where figures were replaced by others to try; null: nothing
  /// was. What was fitted to it is carried over by the ratio of formulas.
  std::shared_ptr<const Device> published{};
};

/// Where there are no such matrix units, products run as in FP32.
inline bool HasTf32(const Device& device) {
  return device.tf32_tflops > device.fp32_tflops;
}
inline bool HasBf16(const Device& device) {
  return device.bf16_tflops > device.fp32_tflops;
}

/// Reads a GPU file; only what is published is set. `source` is its name in
/// messages.
Result<Device> ParseGpu(std::string_view text, std::string_view source);

/// Sets every number: as published, as those of `like` (the GPU it names, or
/// null), by the rules of device.cc.
Device MakeDevice(Device device, const Device* like);

/// The same device with its clock locked: peaks scale, memory does not, and
/// large products lose what the power limit did not take before.
Device WithClock(Device device, double clock_mhz);

/// A GPU by what the user calls it: a built-in name ("a100-sxm-80gb"), a path
/// ending in .toml, either followed by a locked clock ("v100-sxm-16gb@1297MHz")
/// or by figures that replace its own
/// ("h100-sxm-80gb@dram_gbs=6700,l2_mb=100"). An unknown name lists those that
/// may be meant.
Result<Device> FindDevice(std::string_view text);

/// The built-in names, sorted.
const std::vector<std::string>& GpuNames();
/// All of them.
Result<std::vector<Device>> LoadGpus();

}  // namespace stepcast::hw

#endif  // STEPCAST_HW_DEVICE_H_
