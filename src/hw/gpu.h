// What is published about a GPU: the fields of data/gpus/<name>.toml.
#ifndef STEPCAST_HW_GPU_H_
#define STEPCAST_HW_GPU_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

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

/// One published number and where it was found.
struct Figure {
  double value = 0;
  std::string source;
};

/// What is known of a GPU, and nothing that is not: a figure that nobody
/// published is absent. Device (device.h) fills the gaps by rule.
struct Gpu {
  std::string name;   // "v100-pcie-32gb", also the file's name.
  std::string title;  // What the driver calls it.
  Generation generation = Generation::kPascal;
  std::string chip;       // "GV100": GPUs of one chip share kernels.
  std::string dram_type;  // "HBM2"
  std::string like;       // A GPU of the same chip that fills what is unknown.
  std::string notes;
  /// GPUs whose fitted kernel models serve this one where it has none itself.
  std::vector<std::string> borrow{};

  std::optional<Figure> sm_count;
  std::optional<Figure> fp32_lanes_per_sm;
  std::optional<Figure> max_clock_mhz;
  std::optional<Figure> fp32_tflops;
  std::optional<Figure> tf32_tflops;
  std::optional<Figure> fp16_tflops;  // Dense, on matrix units.
  std::optional<Figure> bf16_tflops;
  std::optional<Figure> dram_gb;
  std::optional<Figure> dram_gbs;  // GB/s, 1e9.
  std::optional<Figure> l2_mb;
  std::optional<Figure> smem_per_sm_kb;
  std::optional<Figure> nvlink_gbs;  // Both directions together.
  std::optional<Figure> pcie_gen;
  std::optional<Figure> pcie_gbs;  // One direction, if pcie_gen does not tell.
  std::optional<Figure> tdp_w;
  // Sustained ceilings: what large kernels reach, as a share of the peaks.
  std::optional<Figure> gemm_fp32_share;
  std::optional<Figure> bmm_fp32_share;  // Batched products.
  std::optional<Figure> conv_fp32_share;
  std::optional<Figure> gemm_half_share;
  std::optional<Figure> copy_share;
};

/// A figure of a Gpu by its key, with the range in which it makes sense.
struct FigureField {
  std::string_view key;
  std::optional<Figure> Gpu::*member = nullptr;
  double low = 0;
  double high = 0;
  std::string_view unit;
  /// The least of a processor, where it is less than any GPU's.
  std::optional<double> cpu_low{};
};
std::span<const FigureField> FigureFields();

/// Reads a GPU file. `source` is its name in messages.
Result<Gpu> ParseGpu(std::string_view text, std::string_view source);

}  // namespace stepcast::hw

#endif  // STEPCAST_HW_GPU_H_
