// The waits of one call or work among all of a graph's.
#ifndef STEPCAST_IR_WAITS_OF_H_
#define STEPCAST_IR_WAITS_OF_H_

#include <algorithm>
#include <span>

#include "ir/graph.h"

namespace stepcast::ir {

/// What the host waits for in a call.
inline std::span<const HostWait> WaitsOf(const GraphData& data, CallId call) {
  const auto [first, last] = std::equal_range(
      data.host_waits.begin(), data.host_waits.end(), HostWait{.call = call},
      [](const HostWait& a, const HostWait& b) { return a.call < b.call; });
  return {first, last};
}

/// What a work waits for on other streams.
inline std::span<const StreamWait> WaitsOf(const GraphData& data,
                                           WorkId after) {
  const auto [first, last] = std::equal_range(
      data.stream_waits.begin(), data.stream_waits.end(),
      StreamWait{.after = after}, [](const StreamWait& a, const StreamWait& b) {
        return a.after < b.after;
      });
  return {first, last};
}

}  // namespace stepcast::ir

#endif  // STEPCAST_IR_WAITS_OF_H_
