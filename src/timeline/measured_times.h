// The activities' times as a trace has them, with every delay given to its
// cause.
#ifndef STEPCAST_TIMELINE_MEASURED_TIMES_H_
#define STEPCAST_TIMELINE_MEASURED_TIMES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "ir/graph.h"
#include "timeline/lower.h"

namespace stepcast::timeline {

/// What an activity waited for last before it started.
enum class StartCause : uint8_t {
  kLaunch,      // Its call.
  kStream,      // The work before it on its stream.
  kStreamWait,  // An activity on another stream, by an event.
  kContention,  // An activity on another stream that ended at that time.
  kNone,
};
std::string_view Name(StartCause cause);

/// An activity that started later than all that is known to hold it back.
struct LateStart {
  ir::ActivityId activity{};
  StartCause cause = StartCause::kNone;  // The last known one.
  Duration late{};                       // After it.
};

struct MeasuredTimes {
  ActivityTimes times;
  IdVector<ir::ActivityId, StartCause> causes;
  /// By work. The delays that are usual are in `times`, these are not.
  std::vector<LateStart> late_starts;
  /// Medians over the activities that had this cause and were not late.
  DeviceDelays usual;
  /// Activities on one stream that overlap, as branches of a captured graph do;
  /// the earlier is cut where the later starts.
  size_t overlaps = 0;
};

/// An activity that starts more than 50 us after its last known cause (20 us on
/// a busy stream; for a launch, after the return of its call) is late. If an
/// activity on another stream of the rank ended then, or was in its last
/// quarter, the late one waited for that; if not, its start stays unexplained.
///
/// Activities without a measured start take their duration, if they have one,
/// at once. A matched collective takes what is left from the last rank's start
/// to its own end.
///
/// With `keep_late`, late starts stay as long after their last known cause as
/// they were: what caused them, as ranks that were not recorded, is expected to
/// be there in other steps, too.
MeasuredTimes TakeMeasuredTimes(const ir::GraphData& data,
                                bool keep_late = false);

}  // namespace stepcast::timeline

#endif  // STEPCAST_TIMELINE_MEASURED_TIMES_H_
