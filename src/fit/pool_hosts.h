// One table of overheads from those of several hosts and workloads.
#ifndef STEPCAST_FIT_POOL_HOSTS_H_
#define STEPCAST_FIT_POOL_HOSTS_H_

#include <span>
#include <vector>

#include "cost/overheads/overhead_table.h"

namespace stepcast::fit {

/// The tables of one workload: with all samples, and without outliers.
struct HostRows {
  cost::OverheadData all;
  cost::OverheadData usual;
};

/// How much longer each host takes than the middle one, for the same thing.
/// Found with what is usual for each name, so that
///   usual(host, name) ~ slowness(host) * usual(name).
std::vector<double> Slowness(std::span<const HostRows> hosts);

/// The overheads of a host in the middle. A stall of one workload is not handed
/// on to others: rows are medians over the hosts of what is usual, less each
/// host's slowness, and stalls come back as one factor on all of them, the
/// median over the hosts.
cost::OverheadData PoolHosts(std::span<const HostRows> hosts);

}  // namespace stepcast::fit

#endif  // STEPCAST_FIT_POOL_HOSTS_H_
