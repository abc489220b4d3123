// The share of a server's processors that a process has, as a device.
#ifndef STEPCAST_HW_CPU_DEVICE_H_
#define STEPCAST_HW_CPU_DEVICE_H_

#include "hw/device.h"
#include "hw/node.h"

namespace stepcast::hw {

// What a core has outstanding: 12 lines of 64 bytes for 90 ns (line fill
// buffers of Skylake and later; latency of DDR4 and DDR5 servers).
inline constexpr double kCoreGbs = 12 * 64 / 90.0;

/// Cores of a socket that do nothing but exchange with other processes: what
/// Intel's scripts give to oneCCL's workers, 4 to 8.
inline constexpr double kExchangeCores = 4;

/// What one process computes with.
struct CpuShare {
  double cores = 1;         // That it runs on.
  double busy_cores = 1;    // Of all processes, which decides the clock.
  double memory_share = 1;  // Of bandwidth and capacity.
  double cache_mb = 0;      // Of the last level that it has.
};
/// All of the server, or one of its sockets while all are busy.
CpuShare WholeNode(const Node& node);
CpuShare OneSocket(const Node& node);
/// One of `threads` that share the server evenly, on a core of its own while
/// there are enough.
CpuShare OneOf(const Node& node, int threads);

/// The share as a device of generation kCpu. Shares of its peaks are those that
/// tuned libraries reach (docs/models/cpu_device.md); software that does worse
/// lowers them.
Device MakeCpuDevice(const Node& node, const CpuShare& share);

}  // namespace stepcast::hw

#endif  // STEPCAST_HW_CPU_DEVICE_H_
