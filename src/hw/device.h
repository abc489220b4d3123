// A GPU with every number a formula may ask for: published where it is known,
// derived by a stated rule where it is not.
#ifndef STEPCAST_HW_DEVICE_H_
#define STEPCAST_HW_DEVICE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hw/gpu.h"

namespace stepcast::hw {

struct Device {
  std::string name;
  std::string chip;
  Generation generation = Generation::kPascal;
  std::vector<std::string> borrow{};

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
  // Of a server's processors (host.h); 0 of devices that were measured.
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

/// Fills what `gpu` does not say: from `like` (the GPU it names, or null), then
/// by the rules of device.cc.
Device MakeDevice(const Gpu& gpu, const Gpu* like);

/// The same device with its clock locked: peaks scale, memory does not, and
/// large products lose what the power limit did not take before.
Device WithClock(Device device, double clock_mhz);

}  // namespace stepcast::hw

#endif  // STEPCAST_HW_DEVICE_H_
