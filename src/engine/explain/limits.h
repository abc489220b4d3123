// What limits a step, and how much shorter it could get if only one part of it
// took no time.
#ifndef STEPCAST_ENGINE_EXPLAIN_LIMITS_H_
#define STEPCAST_ENGINE_EXPLAIN_LIMITS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "engine/explain/step_result.h"
#include "sim/simulate.h"

namespace stepcast::engine {

enum class LimitKind : uint8_t {
  kHost,         // What the host does besides calling the device's runtime.
  kLaunch,       // Those calls, the way to the device, gaps between kernels.
  kKernels,      // Kernels.
  kCopies,       // Copies and memsets.
  kCollectives,  // Collectives, once all ranks have come.
  kRanks,        // One rank that the others wait for.
  kData,         // Loading of data.
};
inline constexpr size_t kLimitKindCount = 7;
/// "host", "launch", "kernels", "copies", "communication", "ranks",
/// "data_loading".
std::string_view Name(LimitKind kind);

/// One part of a step.
struct Limit {
  LimitKind kind = LimitKind::kHost;
  /// On the rank that is shown; parts overlap. Of kRanks, by how much it takes
  /// longer than the median rank would alone.
  Duration time{};
  /// How much shorter the step gets if this part alone takes no time; of
  /// kRanks, if no rank takes longer than the median one.
  Duration slack{};
};

/// What the kernels of a step are bound by, as shares of their time.
struct KernelBounds {
  double compute = 0;  // Arithmetic, by the roofline.
  double memory = 0;   // Traffic, likewise.
  double latency = 0;  // Neither comes close to what the GPU can do.
  double unknown = 0;  // Sizes are not known.
};

struct StepLimits {
  LimitKind bound = LimitKind::kKernels;
  std::vector<Limit> limits{};  // One of each kind that there is.
  int64_t rank = 0;             // That the others wait for.
  /// Why it comes last where the others wait longest for it; may be empty.
  std::string why{};
  /// How much shorter the step gets if the host and all launches take no time;
  /// if kernels and copies do.
  Duration host_slack{};
  Duration device_slack{};
  std::optional<KernelBounds> kernels{};  // Where the GPU's models are known.

  const Limit* Find(LimitKind kind) const;
};

/// A device that is active for nineteen twentieths of the step limits it, or
/// else the part without which the step would be shortest; a rank that the
/// others wait for, if that explains nearly as much. `times` are those
/// that the step was simulated with, if they are not those of its tasks.
StepLimits FindLimits(const StepResult& result,
                      const sim::TaskTimes* times = nullptr);

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_EXPLAIN_LIMITS_H_
