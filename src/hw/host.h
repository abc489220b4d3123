// A server's processors with every number a formula may ask for, and the
// devices and clusters that they make.
#ifndef STEPCAST_HW_HOST_H_
#define STEPCAST_HW_HOST_H_

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "hw/cluster.h"
#include "hw/device.h"
#include "hw/server.h"

namespace stepcast::hw {

/// Rates are GB/s (1e9) in one direction; sums are over the server.
struct Host {
  std::string name;
  std::string title;
  int sockets = 1;
  int cores_per_socket = 1;
  double turbo_ghz = 0;   // One core alone.
  double vector_ghz = 0;  // All cores, vector units busy.
  double fp32_flops_per_clock = 0;
  double bf16_flops_per_clock = 0;  // Of FP32 where there is no such unit.
  double cache_mb = 0;              // A socket.
  double memory_gb = 0;
  double memory_gbs = 0;
  double socket_link_gbs = 0;  // 0: one socket.
  double nic_gbs = 0;
  double power_w = 0;
  std::optional<double> price_usd{};

  /// What was not published: "vector_ghz: the base clock", ...
  std::vector<std::string> derived{};

  int cores() const { return sockets * cores_per_socket; }
};

/// Fills what `server` does not say by the rules of host.cc.
Host MakeHost(const Server& server);

/// Cores of a socket that do nothing but exchange with other processes: what
/// Intel's scripts give to oneCCL's workers, 4 to 8.
inline constexpr double kExchangeCores = 4;

/// The part of a server that one process computes with.
struct HostPart {
  double cores = 1;         // At work for it.
  double busy_cores = 1;    // At work at all, which decides the clock.
  double memory_share = 1;  // Of bandwidth and capacity.
  double cache_mb = 0;      // Of the last level that it has.
};
/// All of the server, or one of its sockets while all are busy.
HostPart WholeHost(const Host& host);
HostPart OneSocket(const Host& host);
/// One of `threads` that share the server evenly, on a core of its own while
/// there are enough.
HostPart OneOf(const Host& host, int threads);

/// The part as a device of generation kCpu. Shares of its peaks are those that
/// tuned libraries reach (docs/models/cpu_device.md); software that does worse
/// lowers them.
Device MakeHostDevice(const Host& host, const HostPart& part);

/// The sockets of `nodes` servers as ranks, one each: links between sockets, as
/// far as kExchangeCores fill them, adapters between nodes. Fails for several
/// nodes without a network.
Result<Cluster> MakeHostCluster(const Host& host, int nodes);

}  // namespace stepcast::hw

#endif  // STEPCAST_HW_HOST_H_
