// The fitted constants of the kernel formulas: one list, shared by all GPUs.
//
// A formula takes what a GPU is from its Device and what GPUs have in common
// from here. `stepcast fit kernels` fits them; leaving a GPU out of the fit
// shows how well they transfer.
#ifndef STEPCAST_COST_CONSTANTS_H_
#define STEPCAST_COST_CONSTANTS_H_

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "base/result.h"

namespace stepcast::cost {

enum class Constant {
  kLatencyUs,
  kL2BytesPerClock,
  kL2Share,
  kSoftmaxWarpRowCycles,
  kSoftmaxWarpColumnCycles,
  kSoftmaxRowCycles,
  kSoftmaxColumnCycles,
  kNormRowCycles,
  kConvDirectShare,
  kConvFusedShare,
  kConvNonFusedShare,
  kConvTransformPasses,
  kConvFilterPasses,
  kGemmTileLoss,
  kGemmLoneLoss,
  kGemmWaveDepth,
  kGemmSplitDepth,
  kGemmSplitUs,
  kGemmPrologue,
  kGemmTraffic,
  kGemmOverlap,
  kGemmLatencyCycles,
  kGemmBatchedTail,
  kGemmDeepLoss,
  kGemmPascalDeepLoss,
  kGemmDeepDepth,
  kGemmBurst,
  kMatrixTileLoss,
  kMatrixLoneLoss,
  kMatrixWaveDepth,
  kMatrixSplitDepth,
  kMatrixSplitUs,
  kMatrixPrologue,
  kMatrixTraffic,
  kMatrixOverlap,
  kMatrixLatencyCycles,
  kMatrixFootprint,
  kCount,  // Not a constant: how many there are.
};
inline constexpr size_t kConstantCount = static_cast<size_t>(Constant::kCount);

/// What a constant means, where its value is from, and where it may go in a
/// fit (low == high: it is not fitted).
struct ConstantInfo {
  Constant id = Constant::kCount;
  std::string_view name;  // "gemm.prologue_cycles": family first.
  double value = 0;
  double low = 0;
  double high = 0;
  std::string_view meaning;
};
std::span<const ConstantInfo> ConstantInfos();

/// A value for every constant.
class Constants {
 public:
  /// The built-in values.
  Constants();
  double operator[](Constant id) const {
    return values_[static_cast<size_t>(id)];
  }
  void Set(Constant id, double value) {
    values_[static_cast<size_t>(id)] = value;
  }
  /// Sets what a TOML table of names and numbers holds. Unknown names and
  /// values outside the range are errors.
  Status Read(std::string_view toml, std::string_view source);

 private:
  std::array<double, kConstantCount> values_{};
};

// A recorded kernel on another GPU: how much of a model's error goes with it.

/// On the new GPU it takes model(new) * (recorded / model(old))^share: a share
/// of 1 is a ratio of prices, one of 0 the model of the new GPU alone.
struct Carry {
  std::string_view family;  // Of kernels, as ir::FamilyName.
  double share = 0;
  /// log2 of the measured time over that, 80 % of kernels are in between.
  double log2_p10 = 0;
  double log2_p90 = 0;
};
std::span<const Carry> Carries();
/// Of a family; of one that no two GPUs were measured for, that of all.
const Carry& CarryOf(std::string_view family);
/// Kernels whose sizes are not known, by the ratio of bandwidths.
const Carry& CarryByBandwidth();

/// What a recorded product takes longer than its price, where the models of a
/// GPU were fitted to replays of graphs; 0 for all other GPUs.
double LongerThanReplayedUs(std::string_view gpu);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_CONSTANTS_H_
