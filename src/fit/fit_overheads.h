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
  std::vector<std::string> provenance{};
  double profiler_us_per_event = 0;
  Outliers outliers = Outliers::kKeep;
};

/// One row a name. Each workload that has the name weighs alike, less if it has
/// only a few samples of it.
cost::OverheadData FitOverheads(const OverheadSamples& samples,
                                const FitOverheadsOptions& options);

/// The row of some samples, by their weight; `count` is their number.
struct WeightedSample {
  double us = 0;
  double events = 0;
  double weight = 1;
};
cost::OverheadRow RowOf(std::span<const WeightedSample> samples,
                        Outliers outliers);

}  // namespace stepcast::fit

#endif  // STEPCAST_FIT_FIT_OVERHEADS_H_
