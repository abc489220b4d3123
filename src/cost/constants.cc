#include "cost/constants.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/toml_read.h"

namespace stepcast::cost {
namespace {

constexpr std::array kInfos = {
    ConstantInfo{Constant::kLatencyUs, "kernel.latency_us", 2.0, 1.0, 5.0,
                 "what the shortest kernel takes from its start to its end"},
    ConstantInfo{Constant::kL2BytesPerClock, "stream.l2_bytes_per_clock", 16.5,
                 8, 32, "bytes a clock that an SM streams out of and into L2"},
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

}  // namespace

std::span<const ConstantInfo> ConstantInfos() {
  return kInfos;
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
