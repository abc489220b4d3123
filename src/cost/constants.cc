#include "cost/constants.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/files/toml_read.h"

namespace stepcast::cost {
namespace {

constexpr std::array kInfos = {
    ConstantInfo{Constant::kLatencyUs, "kernel.latency_us", 2.0, 1.0, 5.0,
                 "what the shortest kernel takes from its start to its end"},
    ConstantInfo{Constant::kL2BytesPerClock, "stream.l2_bytes_per_clock", 16.5,
                 8, 32, "bytes per clock that an SM streams from and to L2"},
    ConstantInfo{Constant::kL2Share, "stream.l2_share", 0.65, 0.3, 1.2,
                 "share of L2 at which half the accesses hit"},
    ConstantInfo{Constant::kSoftmaxWarpRowCycles, "softmax.warp_row_cycles", 40,
                 20, 80, "clocks of an SM for a row that fits a warp"},
    ConstantInfo{Constant::kSoftmaxWarpColumnCycles,
                 "softmax.warp_column_cycles", 0.55, 0.3, 0.9,
                 "clocks of an SM for a column of such a row"},
    ConstantInfo{Constant::kSoftmaxRowCycles, "softmax.row_cycles", 740, 400,
                 1200, "clocks of an SM for a row that takes a block"},
    ConstantInfo{Constant::kSoftmaxColumnCycles, "softmax.column_cycles", 0.87,
                 0.4, 1.4, "clocks of an SM for a column of such a row"},
    ConstantInfo{Constant::kNormRowCycles, "normalization.row_cycles", 940, 500,
                 1500, "clocks of an SM for a row of layer norm"},
    ConstantInfo{Constant::kConvDirectShare, "convolution.direct_share", 1.06,
                 0.7, 1.4, "rate of implicit GEMM against that of large GEMMs"},
    ConstantInfo{Constant::kConvFusedShare, "convolution.fused_share", 0.8, 0.5,
                 1.2, "the same of fused Winograd"},
    ConstantInfo{Constant::kConvNonFusedShare, "convolution.non_fused_share",
                 0.9, 0.5, 1.3, "the same of the products of Winograd 4x4"},
    ConstantInfo{Constant::kConvTransformPasses, "convolution.transform_passes",
                 1.35, 0.3, 3, "traffic of its transforms over the least"},
    ConstantInfo{Constant::kConvFilterPasses, "convolution.filter_passes", 2.5,
                 0.5, 5, "the same of the transform of the weights"},
    ConstantInfo{Constant::kGemmTileLoss, "gemm.tile_loss", 8, 0.5, 40,
                 "loss of vector-lane tiles for each element loaded a product "
                 "beyond those of the best tile"},
    ConstantInfo{Constant::kGemmLoneLoss, "gemm.lone_loss", 0.35, 0, 1,
                 "loss of a tile alone on an SM for each warp that is missing, "
                 "over its own"},
    ConstantInfo{
        Constant::kGemmWaveDepth, "gemm.wave_depth", 900, 200, 10000,
        "contraction at which half the last wave is filled by splitting it"},
    ConstantInfo{Constant::kGemmSplitDepth, "gemm.split_depth", 1050, 100,
                 10000, "the same where there are fewer tiles than SMs"},
    ConstantInfo{Constant::kGemmSplitUs, "gemm.split_us", 4.4, 0.5, 15,
                 "adding up the parts of a split contraction"},
    ConstantInfo{Constant::kGemmPrologue, "gemm.prologue", 2, 0, 64,
                 "start and end of a tile, in products along the contraction"},
    ConstantInfo{Constant::kGemmTraffic, "gemm.traffic", 1.55, 1, 3.5,
                 "traffic over that of reading and writing each matrix once"},
    ConstantInfo{Constant::kGemmOverlap, "gemm.overlap", 4, 1, 10,
                 "power by which compute and traffic overlap"},
    ConstantInfo{Constant::kGemmLatencyCycles, "gemm.latency_cycles", 5000,
                 2500, 9000, "clocks of the smallest product, start to end"},
    ConstantInfo{
        Constant::kGemmBatchedTail, "gemm.batched_tail", 0.45, 0, 1,
        "share of the last wave that is lost if there are many matrices"},
    ConstantInfo{Constant::kGemmDeepLoss, "gemm.deep_loss", 0.1, 0, 1,
                 "loss by rows that are too long to be read side by side"},
    ConstantInfo{Constant::kGemmPascalDeepLoss, "gemm.pascal_deep_loss", 1.75,
                 0, 4, "the same on Pascal"},
    ConstantInfo{Constant::kGemmDeepDepth, "gemm.deep_depth", 16400, 4000,
                 40000, "contraction at which half of that loss has set in"},
    ConstantInfo{
        Constant::kGemmBurst, "gemm.burst", 0.35, 0, 1,
        "by how much short kernels are faster than long ones on cards of 75 W"},
    ConstantInfo{Constant::kMatrixTileLoss, "gemm.matrix_tile_loss", 30, 5, 100,
                 "as gemm.tile_loss, on matrix units"},
    ConstantInfo{Constant::kMatrixLoneLoss, "gemm.matrix_lone_loss", 0.04, 0, 1,
                 "as gemm.lone_loss, for each 16384 results that are missing"},
    ConstantInfo{Constant::kMatrixWaveDepth, "gemm.matrix_wave_depth", 1040,
                 200, 10000, "as gemm.wave_depth"},
    ConstantInfo{Constant::kMatrixSplitDepth, "gemm.matrix_split_depth", 300,
                 50, 10000, "as gemm.split_depth"},
    ConstantInfo{Constant::kMatrixSplitUs, "gemm.matrix_split_us", 3.4, 0.5, 10,
                 "as gemm.split_us"},
    ConstantInfo{Constant::kMatrixPrologue, "gemm.matrix_prologue", 62, 8, 256,
                 "as gemm.prologue"},
    ConstantInfo{Constant::kMatrixTraffic, "gemm.matrix_traffic", 1.08, 1, 2,
                 "as gemm.traffic"},
    ConstantInfo{Constant::kMatrixOverlap, "gemm.matrix_overlap", 2.7, 1, 10,
                 "as gemm.overlap"},
    ConstantInfo{Constant::kMatrixLatencyCycles, "gemm.matrix_latency_cycles",
                 4900, 1500, 9000, "as gemm.latency_cycles"},
    ConstantInfo{Constant::kMatrixFootprint, "gemm.matrix_footprint", 4.2, 1,
                 10,
                 "how many times its matrices pass through L2 before a product "
                 "comes again"},
};
static_assert(kInfos.size() == kConstantCount);

constexpr bool InOrder() {
  for (size_t i = 0; i < kInfos.size(); ++i) {
    if (static_cast<size_t>(kInfos[i].id) != i) {
      return false;
    }
  }
  return true;
}
static_assert(InOrder(), "the rows are in the order of the enum");

// Printed by tools/fit_carries.py: kernels of the same sizes on two GPUs, by
// the program's own prices (docs/models/whatif.md says which and how good it
// is). Shares have the least mean error of the logarithm; each is drawn towards
// that of all families as if by ten sizes more, so that a family of four does
// not decide for itself. The ranges are of sizes that the share was not chosen
// on.
constexpr std::array kCarries = {
    Carry{"attention", 0.59, -0.35, 0.63},
    Carry{"concat", 0.68, -0.25, 0.64},
    Carry{"convolution", 0.43, -0.37, 0.95},
    Carry{"copy", 0.10, -0.48, 0.33},
    Carry{"elementwise", 0.24, -0.25, 0.59},
    Carry{"embedding_bag", 0.36, -0.38, 0.64},
    Carry{"fill", 0.59, -0.38, 0.60},
    Carry{"gemm", 0.17, -0.33, 0.25},
    Carry{"index", 0.60, -0.34, 0.66},
    Carry{"normalization", 0.26, -0.55, 0.64},
    Carry{"reduction", 0.58, -0.38, 0.57},
    Carry{"softmax", 0.45, -0.90, 0.60},
    Carry{"transpose", 0.70, -0.52, 0.72},
};
// Families count the same, however many sizes they have.
constexpr Carry kCarryOfAll = {"", 0.60, -0.38, 0.64};
// The same kernels, as if their sizes were not known: the deciles of both ways
// between two GPUs.
constexpr Carry kCarryByBandwidth = {"", 1, -1.53, 1.53};

// Since Hopper, a kernel in a graph may start while the one before it drains
// (programmatic dependent launch), and the graphs whose replays were timed are
// of a library that does so. XLA's table of the same products has the times of
// single kernels from the recorder: in the median 2.2 us more on H100 (64
// products of up to 11 us; 10 % have less than 1.9, 10 % more than 2.6) and 3.0
// on B200 (81), however long they are. A100 shows nothing of the kind. H200 and
// GB200 have the chips and the shortest replays of these two.
struct ReplayGap {
  std::string_view gpu;
  double us = 0;
};
constexpr std::array kReplayGaps = {
    ReplayGap{"h100-sxm-80gb", 2.2}, ReplayGap{"h200-sxm-141gb", 2.2},
    ReplayGap{"b200-sxm-180gb", 3.0}, ReplayGap{"gb200", 3.0}};

}  // namespace

std::span<const ConstantInfo> ConstantInfos() {
  return kInfos;
}

std::span<const Carry> Carries() {
  return kCarries;
}

const Carry& CarryOf(std::string_view family) {
  const auto found = std::ranges::find(kCarries, family, &Carry::family);
  return found == kCarries.end() ? kCarryOfAll : *found;
}

const Carry& CarryByBandwidth() {
  return kCarryByBandwidth;
}

double LongerThanReplayedUs(std::string_view gpu) {
  const auto found = std::ranges::find(kReplayGaps, gpu, &ReplayGap::gpu);
  return found == kReplayGaps.end() ? 0 : found->us;
}

Constants::Constants() {
  for (const ConstantInfo& info : kInfos) {
    Set(info.id, info.value);
  }
}

Status Constants::Read(std::string_view toml, std::string_view source) {
  ASSIGN_OR_RETURN(const toml::table table, ParseToml(toml, source));
  for (const auto& [key, node] : table) {
    const auto info = std::ranges::find(kInfos, key.str(), &ConstantInfo::name);
    if (info == kInfos.end()) {
      return FailAt(node, fmt::format("unknown constant '{}'", key.str()));
    }
    const auto value = node.value<double>();
    if (!value || !(*value >= info->low && *value <= info->high)) {
      return FailAt(node, fmt::format("'{}' must be a number from {} to {}",
                                      key.str(), info->low, info->high));
    }
    Set(info->id, *value);
  }
  return {};
}

}  // namespace stepcast::cost
