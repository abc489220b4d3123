// What was measured of a system's collectives: one curve a kind and group.
#ifndef STEPCAST_COST_COLLECTIVES_CURVE_H_
#define STEPCAST_COST_COLLECTIVES_CURVE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cost/collectives/formula.h"
#include "cost/collectives/load.h"

namespace stepcast::cost {

/// Time over wire bytes. Either smoothed times at every power of two from the
/// first, between which a line in the logarithms leads, with a ramp beyond both
/// ends; or just a measured rate or latency for the formula.
struct CollectiveCurve {
  ir::CollectiveKind kind = ir::CollectiveKind::kUnknown;
  RankGroup group{};
  bool adds_bytes = false;
  size_t rows = 0;           // Fitted to so many.
  double from_log2 = 0;      // Of the first time's bytes.
  std::vector<double> us{};  // Never falling.
  // What takes the formula's place.
  std::optional<double> latency_us{};
  std::optional<double> bus_gbs{};
  std::optional<double> blend{};
  // How far measurements scatter around it, log2.
  double log2_p10 = 0;
  double log2_p90 = 0;
  std::string source{};  // Where it is not that of the whole file.

  bool has_times() const { return !us.empty(); }
  /// Whether times were measured about so many bytes.
  bool Covers(double wire_bytes) const;
  /// The time for wire bytes of an even load; `ramp` is the formula's.
  double Us(double wire_bytes, const Ramp& ramp) const;
  /// The formula's ramp with what this curve knows better.
  Ramp Improve(Ramp ramp) const;
};

/// The curves of one system.
struct CollectiveProfile {
  std::string system;  // "h200-sxm-141gb/single-node", also the file's path.
  std::vector<CollectiveCurve> curves;
};

Result<CollectiveProfile> ParseCollectiveProfile(std::string_view text,
                                                 std::string_view source);
std::string CollectiveProfileText(const CollectiveProfile& profile,
                                  std::string_view provenance);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_COLLECTIVES_CURVE_H_
