#include "hw/device.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/files/catalog.h"
#include "base/files/toml_read.h"
#include "base/text/join.h"
#include "hw/gpu_names.h"
#include "hw/usual_shares.h"

namespace stepcast {

std::span<const EmbeddedFile> GpuFileTexts();

namespace hw {
namespace {

constexpr std::array<std::pair<Generation, std::string_view>, 9> kGenerations =
    {{{Generation::kPascal, "pascal"},
      {Generation::kVolta, "volta"},
      {Generation::kTuring, "turing"},
      {Generation::kAmpere, "ampere"},
      {Generation::kAda, "ada"},
      {Generation::kHopper, "hopper"},
      {Generation::kBlackwell, "blackwell"},
      {Generation::kCdna, "cdna"},
      {Generation::kCpu, "cpu"}}};

// What is usual for a generation, for figures nobody published. Sources:
// the vendors' architecture white papers.
struct Usual {
  Generation generation = Generation::kPascal;
  double lanes_per_sm = 64;
  // Dense FP16 operations of one SM's matrix units per clock; 0: none.
  double matrix_flops_per_clock = 0;
  double l2_mb = 4;
  double smem_per_sm_kb = 64;
  double clock_ghz = 1.4;  // Only if no peak implies the clock.
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
    // Two units of eight lanes per core; the last cache, the first cache.
    Usual{Generation::kCpu, 16, 0, 32, 32, 2.5, 4},
};

// The bandwidth of 16 lanes, one direction: 8, 16, 32, 64 GT/s with 128b/130b
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
  Filler(const Device* like, Device& device) : like_(like), device_(device) {}

  // The published value, else that of the GPU like it, else nothing.
  std::optional<double> Known(std::string_view key) {
    const auto own = ValueOf(device_.figures, key);
    if (own || like_ == nullptr) {
      return own;
    }
    const auto alike = ValueOf(like_->figures, key);
    if (alike) {
      Note(key, fmt::format("as {}", like_->name));
    }
    return alike;
  }

  double Get(std::string_view key, double usual, std::string_view rule) {
    if (const auto known = Known(key)) {
      return *known;
    }
    Note(key, rule);
    return usual;
  }

  void Note(std::string_view key, std::string_view rule) {
    device_.derived.push_back(fmt::format("{}: {}", key, rule));
  }

 private:
  const Device* like_;
  Device& device_;
};

// Clock and FP32 peak follow from each other, and both from the matrix peak.
void FillClock(Filler& fill, const Usual& usual, Device& device) {
  const auto clock = fill.Known("max_clock_mhz");
  const auto fp32 = fill.Known("fp32_tflops");
  const auto half = fill.Known("fp16_tflops");
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
  const auto half = fill.Known("fp16_tflops");
  const auto bf16 = fill.Known("bf16_tflops");
  const auto tf32 = fill.Known("tf32_tflops");
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

Status ReadGpuNames(const toml::table& table, Device& gpu) {
  ASSIGN_OR_RETURN(gpu.name, GetString(table, "name"));
  ASSIGN_OR_RETURN(gpu.title, GetString(table, "title"));
  ASSIGN_OR_RETURN(gpu.chip, GetString(table, "chip"));
  ASSIGN_OR_RETURN(gpu.dram_type, GetOptionalString(table, "dram_type"));
  ASSIGN_OR_RETURN(gpu.like, GetOptionalString(table, "like"));
  ASSIGN_OR_RETURN(gpu.notes, GetOptionalString(table, "notes"));
  if (table.contains("borrow")) {
    ASSIGN_OR_RETURN(gpu.borrow, GetStrings(table, "borrow"));
  }
  ASSIGN_OR_RETURN(const std::string generation,
                   GetString(table, "generation"));
  const auto known = GenerationFromName(generation);
  if (!known) {
    std::vector<std::string_view> names;
    names.reserve(kGenerations.size());
    for (const auto& [value, name] : kGenerations) {
      names.push_back(name);
    }
    return FailAt(*table.get("generation"),
                  fmt::format("unknown generation '{}'; expected one of: {}",
                              generation, Join(names, ", ")));
  }
  gpu.generation = *known;
  return {};
}

const Catalog<Device>& Gpus() {
  static const Catalog<Device> gpus({.what = "GPU",
                                     .files = GpuFileTexts(),
                                     .same = &SameGpu,
                                     .near = &NearGpus},
                                    &ParseGpu);
  return gpus;
}

bool IsBuiltIn(const std::string& name) {
  return std::ranges::binary_search(Gpus().names(), name);
}

Status CheckReferences(const Device& gpu, std::string_view source) {
  if (!gpu.like.empty() && !IsBuiltIn(gpu.like)) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{}: 'like' names '{}', which is not a known GPU",
                            source, gpu.like));
  }
  for (const std::string& name : gpu.borrow) {
    if (!IsBuiltIn(name)) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{}: 'borrow' names '{}', which is not a "
                              "known GPU",
                              source, name));
    }
  }
  return {};
}

Result<double> ParseClock(std::string_view clock, std::string_view text) {
  for (const std::string_view unit : {"MHz", "mhz"}) {
    if (clock.ends_with(unit)) {
      clock.remove_suffix(unit.size());
    }
  }
  double mhz = 0;
  const auto [end, error] =
      std::from_chars(clock.data(), clock.data() + clock.size(), mhz);
  if (error != std::errc() || end != clock.data() + clock.size() ||
      !(mhz >= 100 && mhz <= 10000)) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("'{}' is not a clock; expected a GPU and MHz, as "
                            "in v100-sxm-16gb@1297MHz, or figures, as in "
                            "v100-sxm-16gb@dram_gbs=1200",
                            text));
  }
  return mhz;
}

}  // namespace

std::string_view Name(Generation generation) {
  for (const auto& [value, name] : kGenerations) {
    if (value == generation) {
      return name;
    }
  }
  return "unknown";
}

std::optional<Generation> GenerationFromName(std::string_view name) {
  for (const auto& [value, text] : kGenerations) {
    if (text == name) {
      return value;
    }
  }
  return std::nullopt;
}

Result<Device> ParseGpu(std::string_view text, std::string_view source) {
  ASSIGN_OR_RETURN(const toml::table table, ParseToml(text, source));
  RETURN_IF_ERROR(CheckMachineKeys(table, MachineKind::kGpu,
                                   {"name", "title", "generation", "chip",
                                    "like", "borrow", "dram_type", "notes"}));
  Device gpu;
  RETURN_IF_ERROR(ReadGpuNames(table, gpu));
  ASSIGN_OR_RETURN(gpu.figures,
                   ReadFigures(table, MachineKind::kGpu,
                               gpu.generation == Generation::kCpu));
  return gpu;
}

Device MakeDevice(Device device, const Device* like) {
  const Usual& usual =
      *std::ranges::find(kUsual, device.generation, &Usual::generation);
  Filler fill(like, device);
  constexpr std::string_view kByGeneration = "usual for the generation";
  device.fp32_lanes_per_sm =
      fill.Get("fp32_lanes_per_sm", usual.lanes_per_sm, kByGeneration);
  device.sm_count =
      fill.Get("sm_count", 80, "a large GPU's, for want of anything better");
  FillClock(fill, usual, device);
  FillPeaks(fill, device);
  // A card whose memory is unknown takes that of the GPU it is like.
  const std::string& memory = device.dram_type.empty() && like != nullptr
                                  ? like->dram_type
                                  : device.dram_type;
  device.stacked_memory = memory.starts_with("HBM");
  device.dram_gbs = fill.Get("dram_gbs", device.stacked_memory ? 1500 : 600,
                             "usual for the type of memory");
  device.dram_gb = fill.Get("dram_gb", 16, kByGeneration);
  device.l2_mb = fill.Get("l2_mb", usual.l2_mb, kByGeneration);
  device.smem_per_sm_kb =
      fill.Get("smem_per_sm_kb", usual.smem_per_sm_kb, kByGeneration);
  device.nvlink_gbs = fill.Get("nvlink_gbs", 0, "no link known");
  const auto pcie_gbs = fill.Known("pcie_gbs");
  device.pcie_gbs =
      pcie_gbs ? *pcie_gbs
               : PcieGbs(fill.Get("pcie_gen", usual.pcie_gen, kByGeneration));
  device.tdp_w = fill.Get("tdp_w", 300, "a server card's");
  // Ceilings where nobody measured.
  ApplyShareRule(ShareRule(), device);
  constexpr std::string_view kNotMeasured = "usual, not measured";
  device.gemm_fp32_share =
      fill.Get("gemm_fp32_share", device.gemm_fp32_share, kNotMeasured);
  device.bmm_fp32_share =
      fill.Get("bmm_fp32_share", device.bmm_fp32_share, kNotMeasured);
  device.conv_fp32_share =
      fill.Get("conv_fp32_share", device.conv_fp32_share, kNotMeasured);
  device.gemm_half_share =
      fill.Get("gemm_half_share", device.gemm_half_share, kNotMeasured);
  device.copy_share = fill.Get("copy_share", device.copy_share, kNotMeasured);
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

const std::vector<std::string>& GpuNames() {
  return Gpus().names();
}

Result<Device> FindDevice(std::string_view text) {
  const size_t at = std::min(text.rfind('@'), text.size());
  const std::string_view name = text.substr(0, at);
  ASSIGN_OR_RETURN(const Device* published, Gpus().Find(name));
  RETURN_IF_ERROR(CheckReferences(*published, name));
  const Device* like = nullptr;
  if (!published->like.empty()) {
    ASSIGN_OR_RETURN(like, Gpus().Find(published->like));
  }
  Device gpu = *published;
  bool has_figures = false;
  std::optional<double> clock_mhz;
  size_t comma = at;
  while (comma < text.size()) {
    const size_t begin = comma + 1;
    comma = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, comma - begin);
    if (part.find('=') == std::string_view::npos) {
      ASSIGN_OR_RETURN(clock_mhz, ParseClock(part, text));
      continue;
    }
    RETURN_IF_ERROR(SetFigure(part, MachineKind::kGpu, gpu.figures));
    has_figures = true;
  }
  const auto make = [&](const Device& one) {
    Device device = MakeDevice(one, like);
    return clock_mhz ? WithClock(std::move(device), *clock_mhz) : device;
  };
  Device device = make(gpu);
  if (has_figures) {
    device.name = fmt::format("{}{}", gpu.name, text.substr(at));
    device.published = std::make_shared<const Device>(make(*published));
  }
  return device;
}

Result<std::vector<Device>> LoadGpus() {
  std::vector<Device> gpus;
  for (const std::string& name : GpuNames()) {
    ASSIGN_OR_RETURN(Device gpu, FindDevice(name));
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

}  // namespace hw
}  // namespace stepcast
