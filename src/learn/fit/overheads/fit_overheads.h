// From measured segments of the host's time to a table of overheads.
#ifndef STEPCAST_LEARN_FIT_OVERHEADS_FIT_OVERHEADS_H_
#define STEPCAST_LEARN_FIT_OVERHEADS_FIT_OVERHEADS_H_

#include <span>
#include <string>
#include <vector>

#include "cost/overheads/overhead_table.h"
#include "learn/fit/overheads/overhead_samples.h"

namespace stepcast::learn {

// One table of overheads from those of several hosts and workloads.

/// The tables of one workload: with all samples, and without outliers.
struct HostRows {
  cost::OverheadData all;
  cost::OverheadData usual;
};

/// How much longer each host takes than the median host, for the same thing.
/// Found with what is usual for each name, so that
///   usual(host, name) ~ slowness(host) * usual(name).
std::vector<double> Slowness(std::span<const HostRows> hosts);

/// The overheads of a median host. A stall of one workload does not affect
/// others: rows are medians over the hosts of what is usual, less each host's
/// slowness, and stalls come back as one factor on all of them, the median over
/// the hosts.
cost::OverheadData PoolHosts(std::span<const HostRows> hosts);

/// What to do with samples far from the rest of their name.
enum class Outliers : uint8_t {
  kKeep,
  /// Leave out what is further from the middle half than 1.5 times its width,
  /// as Lin et al. (2022) do. Every step has a few such samples, not the same
  /// ones, so this predicts steps too short.
  kTukey,
};

struct FitOverheadsOptions {
  std::string name = "fitted";
  /// The head of the table; one line per workload. With several workloads, each
  /// line also gets the speed of its host.
  std::vector<std::string> provenance{};
  double profiler_us_per_event = 0;
  Outliers outliers = Outliers::kKeep;
};

/// The means of one workload, one row per name; of several, those of a median
/// host (pool_hosts.h).
cost::OverheadData FitOverheads(const OverheadSamples& samples,
                                const FitOverheadsOptions& options);

/// What the profiler may have spent on an event, in microseconds: half of what
/// the quickest tenth of the ops with nested events and without calls take per
/// event, and at most the 2 us of Lin et al. (2022). An event cannot cost more
/// than the time it is recorded in; that half of this time is the op's own is
/// an assumption.
double EstimateProfilerCost(const OverheadSamples& samples);

/// The row of some samples, whatever their workload.
cost::OverheadRow RowOf(std::span<const OverheadSample> samples,
                        Outliers outliers);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_FIT_OVERHEADS_FIT_OVERHEADS_H_
