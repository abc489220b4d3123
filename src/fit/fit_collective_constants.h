// Fits the constants that the collectives of all systems share.
#ifndef STEPCAST_FIT_FIT_COLLECTIVE_CONSTANTS_H_
#define STEPCAST_FIT_FIT_COLLECTIVE_CONSTANTS_H_

#include <span>
#include <string>
#include <vector>

#include "cost/collectives/constants.h"
#include "fit/collective_points.h"
#include "hw/cluster.h"

namespace stepcast::fit {

struct CollectiveInput {
  std::span<const MeasuredCurve> curves;
  std::span<const hw::Cluster> clusters;  // By system.
  std::span<const std::string> systems;
  /// Systems of this GPU are left out; empty: none.
  std::string without_gpu;
};

/// Kind by kind, then the network. Every curve counts alike; those of odd
/// systems do not. Without curves a constant keeps its usual value.
cost::CollectiveConstants FitCollectiveConstants(const CollectiveInput& input);

/// "h100-sxm-80gb" of "h100-sxm-80gb/single-node".
std::string_view GpuOf(std::string_view system);

}  // namespace stepcast::fit

#endif  // STEPCAST_FIT_FIT_COLLECTIVE_CONSTANTS_H_
