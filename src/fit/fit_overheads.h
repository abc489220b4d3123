// From measured pieces of the host's time to a table of overheads.
#ifndef STEPCAST_FIT_FIT_OVERHEADS_H_
#define STEPCAST_FIT_FIT_OVERHEADS_H_

#include <span>
#include <string>
#include <vector>

#include "cost/overheads/overhead_table.h"
#include "fit/overhead_samples.h"

namespace stepcast::fit {

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
  /// The head of the table; a line a workload. Of several workloads, each line
  /// is told how fast the host is.
  std::vector<std::string> provenance{};
  double profiler_us_per_event = 0;
  Outliers outliers = Outliers::kKeep;
};

/// The means of one workload, a row a name; of several, those of a host in the
/// middle (pool_hosts.h).
cost::OverheadData FitOverheads(const OverheadSamples& samples,
                                const FitOverheadsOptions& options);

/// What the profiler may have spent on an event, in microseconds: half of what
/// the quickest tenth of the ops with nested events and without calls take an
/// event, and at most the 2 us of Lin et al. (2022). An event cannot cost more
/// than the time it passes in; that half of it is the op's own is a guess.
double GuessProfilerCost(const OverheadSamples& samples);

/// The row of some samples, whatever their workload.
cost::OverheadRow RowOf(std::span<const OverheadSample> samples,
                        Outliers outliers);

}  // namespace stepcast::fit

#endif  // STEPCAST_FIT_FIT_OVERHEADS_H_
