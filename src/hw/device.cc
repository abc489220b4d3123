#include "hw/device.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "hw/usual_shares.h"

namespace stepcast::hw {
namespace {

// What is usual for a generation, for figures nobody published. Sources:
// the vendors' architecture white papers.
struct Usual {
  Generation generation = Generation::kPascal;
  double lanes_per_sm = 64;
  // Dense FP16 operations of one SM's matrix units per clock; 0: none.
  double matrix_flops_per_clock = 0;
  double l2_mb = 4;
  double smem_per_sm_kb = 64;
  double clock_ghz = 1.4;  // Only when no peak tells the clock.
  double pcie_gen = 3;
};

constexpr std::array kUsual = {
    Usual{Generation::kPascal, 64, 0, 4, 64, 1.3, 3},
    Usual{Generation::kVolta, 64, 1024, 6, 96, 1.4, 3},
    Usual{Generation::kTuring, 64, 1024, 4, 64, 1.5, 3},
    Usual{Generation::kAmpere, 64, 2048, 40, 164, 1.4, 4},
    Usual{Generation::kAda, 128, 1024, 64, 100, 2.4, 4},
    Usual{Generation::kHopper, 128, 4096, 50, 228, 1.8, 5},
    Usual{Generation::kBlackwell, 128, 8192, 126, 228, 1.9, 5},
    Usual{Generation::kCdna, 64, 1024, 8, 64, 1.7, 4},
    // Two units of eight lanes a core; the last cache, the first cache.
    Usual{Generation::kCpu, 16, 0, 32, 32, 2.5, 4},
};

// Bytes a second of 16 lanes, one direction: 8, 16, 32, 64 GT/s with 128b/130b
// encoding from generation 3 on; 5 GT/s with 8b/10b before.
double PcieGbs(double generation) {
  if (generation < 3) {
    return generation < 2 ? 4.0 : 8.0;
  }
  return 16.0 * std::exp2(generation - 3) * 128.0 / 130.0;
}

// Answers one figure after another and notes which were not published.
class Filler {
 public:
  Filler(const Gpu& gpu, const Gpu* like, Device& device)
      : gpu_(gpu), like_(like), device_(device) {}

  // The published value, else that of the GPU like it, else nothing.
  std::optional<double> Known(std::string_view key,
                              std::optional<Figure> Gpu::*member) {
    if (gpu_.*member) {
      return (gpu_.*member)->value;
    }
    if (like_ != nullptr && like_->*member) {
      Note(key, fmt::format("as {}", like_->name));
      return (like_->*member)->value;
    }
    return std::nullopt;
  }

  double Get(std::string_view key, std::optional<Figure> Gpu::*member,
             double usual, std::string_view rule) {
    if (const auto known = Known(key, member)) {
      return *known;
    }
    Note(key, rule);
    return usual;
  }

  void Note(std::string_view key, std::string_view rule) {
    device_.derived.push_back(fmt::format("{}: {}", key, rule));
  }

 private:
  const Gpu& gpu_;
  const Gpu* like_;
  Device& device_;
};

// Clock and FP32 peak tell each other; the matrix peak tells both.
void FillClock(Filler& fill, const Usual& usual, Device& device) {
  const auto clock = fill.Known("max_clock_mhz", &Gpu::max_clock_mhz);
  const auto fp32 = fill.Known("fp32_tflops", &Gpu::fp32_tflops);
  const auto half = fill.Known("fp16_tflops", &Gpu::fp16_tflops);
  const double flops_per_clock = 2 * device.sm_count * device.fp32_lanes_per_sm;
  if (clock) {
    device.clock_ghz = *clock / 1e3;
  } else if (fp32) {
    device.clock_ghz = *fp32 * 1e3 / flops_per_clock;
    fill.Note("max_clock_mhz", "from the FP32 peak and the lanes");
  } else if (half && usual.matrix_flops_per_clock > 0) {
    device.clock_ghz =
        *half * 1e3 / (device.sm_count * usual.matrix_flops_per_clock);
    fill.Note("max_clock_mhz", "from the FP16 peak and the matrix units");
  } else {
    device.clock_ghz = usual.clock_ghz;
    fill.Note("max_clock_mhz", "usual for the generation");
  }
  device.fp32_tflops = fp32.value_or(flops_per_clock * device.clock_ghz / 1e3);
  if (!fp32) {
    fill.Note("fp32_tflops", "from the clock and the lanes");
  }
}

void FillPeaks(Filler& fill, Device& device) {
  const auto half = fill.Known("fp16_tflops", &Gpu::fp16_tflops);
  const auto bf16 = fill.Known("bf16_tflops", &Gpu::bf16_tflops);
  const auto tf32 = fill.Known("tf32_tflops", &Gpu::tf32_tflops);
  // GPUs before Volta compute FP16 on the vector units at best.
  device.fp16_tflops = half.value_or(device.fp32_tflops);
  // NVIDIA's BF16 and TF32 units came together, with Ampere; TF32 runs at half
  // rate. Of AMD's GPUs few have any: those whose datasheets say so.
  device.bf16_tflops = bf16.value_or(device.fp32_tflops);
  const bool half_rate = bf16 && device.generation != Generation::kCdna;
  device.tf32_tflops =
      tf32.value_or(half_rate ? *bf16 / 2 : device.fp32_tflops);
  if (!half) {
    fill.Note("fp16_tflops", "no matrix units, as FP32");
  }
  if (!bf16) {
    fill.Note("bf16_tflops", "no such unit, as FP32");
  }
  if (!tf32) {
    fill.Note("tf32_tflops",
              half_rate ? "half of BF16" : "no such unit, as FP32");
  }
}

}  // namespace

Device MakeDevice(const Gpu& gpu, const Gpu* like) {
  const Usual& usual =
      *std::ranges::find(kUsual, gpu.generation, &Usual::generation);
  Device device{.name = gpu.name,
                .chip = gpu.chip,
                .generation = gpu.generation,
                .borrow = gpu.borrow};
  Filler fill(gpu, like, device);
  constexpr std::string_view kByGeneration = "usual for the generation";
  device.fp32_lanes_per_sm =
      fill.Get("fp32_lanes_per_sm", &Gpu::fp32_lanes_per_sm, usual.lanes_per_sm,
               kByGeneration);
  device.sm_count = fill.Get("sm_count", &Gpu::sm_count, 80,
                             "a large GPU's, for want of anything better");
  FillClock(fill, usual, device);
  FillPeaks(fill, device);
  // The GPU it is like tells the memory of a card whose own is unknown.
  const std::string& memory = gpu.dram_type.empty() && like != nullptr
                                  ? like->dram_type
                                  : gpu.dram_type;
  device.stacked_memory = memory.starts_with("HBM");
  device.dram_gbs =
      fill.Get("dram_gbs", &Gpu::dram_gbs, device.stacked_memory ? 1500 : 600,
               "usual for the type of memory");
  device.dram_gb = fill.Get("dram_gb", &Gpu::dram_gb, 16, kByGeneration);
  device.l2_mb = fill.Get("l2_mb", &Gpu::l2_mb, usual.l2_mb, kByGeneration);
  device.smem_per_sm_kb = fill.Get("smem_per_sm_kb", &Gpu::smem_per_sm_kb,
                                   usual.smem_per_sm_kb, kByGeneration);
  device.nvlink_gbs =
      fill.Get("nvlink_gbs", &Gpu::nvlink_gbs, 0, "no link known");
  const auto pcie_gbs = fill.Known("pcie_gbs", &Gpu::pcie_gbs);
  device.pcie_gbs = pcie_gbs ? *pcie_gbs
                             : PcieGbs(fill.Get("pcie_gen", &Gpu::pcie_gen,
                                                usual.pcie_gen, kByGeneration));
  device.tdp_w = fill.Get("tdp_w", &Gpu::tdp_w, 300, "a server card's");
  // Ceilings where nobody measured.
  ApplyShareRule(ShareRule(), device);
  constexpr std::string_view kNotMeasured = "usual, not measured";
  device.gemm_fp32_share = fill.Get("gemm_fp32_share", &Gpu::gemm_fp32_share,
                                    device.gemm_fp32_share, kNotMeasured);
  device.bmm_fp32_share = fill.Get("bmm_fp32_share", &Gpu::bmm_fp32_share,
                                   device.bmm_fp32_share, kNotMeasured);
  device.conv_fp32_share = fill.Get("conv_fp32_share", &Gpu::conv_fp32_share,
                                    device.conv_fp32_share, kNotMeasured);
  device.gemm_half_share = fill.Get("gemm_half_share", &Gpu::gemm_half_share,
                                    device.gemm_half_share, kNotMeasured);
  device.copy_share =
      fill.Get("copy_share", &Gpu::copy_share, device.copy_share, kNotMeasured);
  return device;
}

Device WithClock(Device device, double clock_mhz) {
  const double ratio = clock_mhz / 1e3 / device.clock_ghz;
  device.clock_ghz *= ratio;
  device.fp32_tflops *= ratio;
  device.tf32_tflops *= ratio;
  device.fp16_tflops *= ratio;
  device.bf16_tflops *= ratio;
  // Large products run into the power limit at full clock. A lower clock leaves
  // them their rate until the units themselves are short: V100, whose share is
  // the highest of the measured chips, keeps them busy for that long.
  constexpr double kMostShare = 0.8957;
  if (ratio < 1) {
    device.gemm_fp32_share =
        std::max(device.gemm_fp32_share,
                 std::min(kMostShare, device.gemm_fp32_share / ratio));
  }
  device.name += fmt::format("@{:.0f}MHz", clock_mhz);
  return device;
}

}  // namespace stepcast::hw
