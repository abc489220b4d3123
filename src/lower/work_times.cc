#include "lower/work_times.h"

namespace stepcast::lower {

WorkTimes UniformTimes(const ir::GraphData& data,
                       const IdVector<ir::WorkId, Duration>& durations,
                       const DeviceDelays& delays) {
  WorkTimes times;
  times.works.reserve(data.works.size());
  for (const ir::WorkId id : data.works.ids()) {
    times.works.push_back({.duration = durations[id],
                           .launch = delays.launch,
                           .gap = delays.gap});
  }
  times.wait_delays.assign(data.stream_waits.size(), delays.stream_wait);
  return times;
}

}  // namespace stepcast::lower
