#include "hw/gpu.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/toml_read.h"
#include "hw/read_figure.h"

namespace stepcast::hw {
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

// A range is wide enough for any GPU of the last and next ten years, and for
// one core of a processor without a vector library; outside it the unit is
// wrong.
constexpr std::array kGpuFields = {
    FigureField{"sm_count", &Gpu::sm_count, 1, 2000, ""},
    FigureField{"fp32_lanes_per_sm", &Gpu::fp32_lanes_per_sm, 16, 1024, ""},
    FigureField{"max_clock_mhz", &Gpu::max_clock_mhz, 200, 6000, "MHz"},
    FigureField{"fp32_tflops", &Gpu::fp32_tflops, 0.5, 2000, "TFLOP/s", 1e-4},
    FigureField{"tf32_tflops", &Gpu::tf32_tflops, 5, 20000, "TFLOP/s"},
    FigureField{"fp16_tflops", &Gpu::fp16_tflops, 5, 50000, "TFLOP/s"},
    FigureField{"bf16_tflops", &Gpu::bf16_tflops, 5, 50000, "TFLOP/s"},
    FigureField{"dram_gb", &Gpu::dram_gb, 1, 4000, "GB"},
    FigureField{"dram_gbs", &Gpu::dram_gbs, 20, 100000, "GB/s", 0.5},
    FigureField{"l2_mb", &Gpu::l2_mb, 0.25, 2000, "MB"},
    FigureField{"smem_per_sm_kb", &Gpu::smem_per_sm_kb, 16, 2000, "kB"},
    FigureField{"nvlink_gbs", &Gpu::nvlink_gbs, 10, 20000, "GB/s"},
    FigureField{"pcie_gen", &Gpu::pcie_gen, 1, 10, ""},
    FigureField{"pcie_gbs", &Gpu::pcie_gbs, 0.5, 2000, "GB/s"},
    FigureField{"tdp_w", &Gpu::tdp_w, 20, 5000, "W"},
    FigureField{"gemm_fp32_share", &Gpu::gemm_fp32_share, 0.05, 1, ""},
    FigureField{"bmm_fp32_share", &Gpu::bmm_fp32_share, 0.05, 1, ""},
    FigureField{"conv_fp32_share", &Gpu::conv_fp32_share, 0.05, 1, ""},
    FigureField{"gemm_half_share", &Gpu::gemm_half_share, 0.05, 1, ""},
    FigureField{"copy_share", &Gpu::copy_share, 0.05, 1, ""},
};

Status ReadNames(const toml::table& table, Gpu& gpu) {
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
                              generation, fmt::join(names, ", ")));
  }
  gpu.generation = *known;
  return {};
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

std::span<const FigureField> FigureFields() {
  return kGpuFields;
}

Result<Gpu> ParseGpu(std::string_view text, std::string_view source) {
  ASSIGN_OR_RETURN(const toml::table table, ParseToml(text, source));
  std::vector<std::string_view> keys = {"name",      "title", "generation",
                                        "chip",      "like",  "borrow",
                                        "dram_type", "notes"};
  for (const FigureField& field : kGpuFields) {
    keys.push_back(field.key);
  }
  RETURN_IF_ERROR(CheckKeys(table, keys));
  Gpu gpu;
  RETURN_IF_ERROR(ReadNames(table, gpu));
  for (const FigureField& field : kGpuFields) {
    if (const toml::node* node = table.get(field.key)) {
      const bool cpu = gpu.generation == Generation::kCpu;
      ASSIGN_OR_RETURN(
          gpu.*field.member,
          ReadFigure(*node,
                     {.key = field.key,
                      .low = cpu && field.cpu_low ? *field.cpu_low : field.low,
                      .high = field.high,
                      .unit = field.unit}));
    }
  }
  return gpu;
}

}  // namespace stepcast::hw
