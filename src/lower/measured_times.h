// The works' times as a trace has them, with every delay given to its cause.
#ifndef STEPCAST_LOWER_MEASURED_TIMES_H_
#define STEPCAST_LOWER_MEASURED_TIMES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "ir/graph.h"
#include "lower/work_times.h"

namespace stepcast::lower {

/// What a work waited for last before it started.
enum class StartCause : uint8_t { kLaunch, kStream, kStreamWait, kNone };
std::string_view Name(StartCause cause);

/// A work that started later than all that is known to hold it back.
struct LateStart {
  ir::WorkId work{};
  StartCause cause = StartCause::kNone;  // The last known one.
  Duration late{};                       // Beyond what that usually takes.
};

struct MeasuredTimes {
  WorkTimes times;
  IdVector<ir::WorkId, StartCause> causes;
  /// By work. The delays that are usual are in `times`, these are not.
  std::vector<LateStart> late_starts;
  DeviceDelays usual;  // Medians over the works that had this cause.
  /// Works on one stream that overlap, as branches of a captured graph do; the
  /// earlier is cut where the later starts.
  size_t overlaps = 0;
};

/// What a cause may take beyond its median before it counts as unexplained.
struct LateLimits {
  Duration launch = std::chrono::microseconds(50);
  Duration stream = std::chrono::microseconds(20);
  Duration stream_wait = std::chrono::microseconds(50);
};

/// Works without a measured start take their duration, if they have one, at
/// once. A matched collective takes what is left from the last rank's start to
/// its own end.
MeasuredTimes TakeMeasuredTimes(const ir::GraphData& data,
                                const LateLimits& limits = {});

}  // namespace stepcast::lower

#endif  // STEPCAST_LOWER_MEASURED_TIMES_H_
