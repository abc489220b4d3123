// How long each work takes on its device and what keeps it from starting at
// once.
#ifndef STEPCAST_LOWER_WORK_TIMES_H_
#define STEPCAST_LOWER_WORK_TIMES_H_

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "ir/graph.h"

namespace stepcast::lower {

struct WorkTime {
  Duration duration{};  // Of a matched collective: once all ranks have come.
  Duration launch{};    // From the start of the call to the earliest start.
  Duration gap{};       // Behind the work before it on its stream.
  Duration release{};   // For work without a call, from the rank's start.
};

/// `after` started when `before`, on another stream, ended or was about to:
/// both wanted the same units of the device, or a wait was not recorded. A
/// negative delay is a start in the last wave of `before`.
struct Contention {
  ir::WorkId before{};
  ir::WorkId after{};
  Duration delay{};
};

struct WorkTimes {
  IdVector<ir::WorkId, WorkTime> works;
  /// Behind the work that a stream waits for; one a StreamWait of the graph.
  std::vector<Duration> wait_delays;
  std::vector<Contention> contentions{};  // By `after`.
};

/// What the device adds to every work; one set for a whole machine.
struct DeviceDelays {
  Duration launch{};
  Duration gap{};
  Duration stream_wait{};
};

/// The same delays for every work.
WorkTimes UniformTimes(const ir::GraphData& data,
                       const IdVector<ir::WorkId, Duration>& durations,
                       const DeviceDelays& delays);

}  // namespace stepcast::lower

#endif  // STEPCAST_LOWER_WORK_TIMES_H_
