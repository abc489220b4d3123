#include "fit/fit_overheads.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace stepcast::fit {
namespace {

using cost::OverheadPart;
using cost::OverheadRow;

// Tukey's fences, in widths of the middle half.
constexpr double kTukeyWidths = 1.5;
// A workload with so many samples of a name weighs half of one with very many.
constexpr double kHalfWeight = 5;

double WeightedQuantile(std::span<const WeightedSample> sorted, double total,
                        double share) {
  double below = 0;
  for (const WeightedSample& sample : sorted) {
    below += sample.weight;
    if (below >= share * total) {
      return sample.us;
    }
  }
  return sorted.empty() ? 0 : sorted.back().us;
}

double TotalWeight(std::span<const WeightedSample> samples) {
  double total = 0;
  for (const WeightedSample& sample : samples) {
    total += sample.weight;
  }
  return total;
}

std::vector<WeightedSample> WithoutOutliers(
    std::span<const WeightedSample> sorted) {
  const double total = TotalWeight(sorted);
  const double q1 = WeightedQuantile(sorted, total, 0.25);
  const double q3 = WeightedQuantile(sorted, total, 0.75);
  const double reach = kTukeyWidths * (q3 - q1);
  std::vector<WeightedSample> kept;
  for (const WeightedSample& sample : sorted) {
    if (sample.us >= q1 - reach && sample.us <= q3 + reach) {
      kept.push_back(sample);
    }
  }
  return kept;
}

// Equal weights for the workloads, however many samples each has.
void AddWeighted(const std::vector<OverheadSample>& samples, double factor,
                 std::vector<WeightedSample>& weighted) {
  std::map<uint32_t, double> counts;
  for (const OverheadSample& sample : samples) {
    counts[sample.workload] += 1;
  }
  for (const OverheadSample& sample : samples) {
    const double count = counts[sample.workload];
    weighted.push_back({.us = sample.us,
                        .events = static_cast<double>(sample.events),
                        .weight = factor / (count + kHalfWeight)});
  }
}

// What a call that waits costs where it need not: without its return, which is
// added in any case.
void TakeReturnsOut(cost::OverheadData& data) {
  // What a sync costs where it was never seen to return at once.
  constexpr double kEntryUs = 2;
  auto& calls = data[OverheadPart::kCall];
  for (const auto& [name, tail] : data[OverheadPart::kSyncTail]) {
    if (name == cost::kPooledName) {
      continue;
    }
    const auto found = calls.find(name);
    if (found == calls.end()) {
      calls[name] = {.count = 0,
                     .mean_us = kEntryUs,
                     .p10_us = kEntryUs,
                     .p50_us = kEntryUs,
                     .p90_us = kEntryUs,
                     .events = 1};
      continue;
    }
    OverheadRow& row = found->second;
    for (double* value :
         {&row.mean_us, &row.p10_us, &row.p50_us, &row.p90_us}) {
      *value = std::max(0.0, *value - tail.mean_us);
    }
  }
}

}  // namespace

OverheadRow RowOf(std::span<const WeightedSample> samples, Outliers outliers) {
  std::vector<WeightedSample> sorted(samples.begin(), samples.end());
  std::ranges::stable_sort(sorted, {}, &WeightedSample::us);
  const std::vector<WeightedSample> kept =
      outliers == Outliers::kTukey ? WithoutOutliers(sorted) : sorted;
  OverheadRow row;
  const double total = TotalWeight(kept);
  if (total <= 0) {
    return row;
  }
  row.count = static_cast<int64_t>(kept.size());
  double square = 0;
  for (const WeightedSample& sample : kept) {
    row.mean_us += sample.weight * sample.us / total;
    row.events += sample.weight * sample.events / total;
    square += sample.weight * sample.us * sample.us / total;
  }
  row.std_us = std::sqrt(std::max(0.0, square - row.mean_us * row.mean_us));
  row.p10_us = WeightedQuantile(kept, total, 0.1);
  row.p50_us = WeightedQuantile(kept, total, 0.5);
  row.p90_us = WeightedQuantile(kept, total, 0.9);
  return row;
}

cost::OverheadData FitOverheads(const OverheadSamples& samples,
                                const FitOverheadsOptions& options) {
  cost::OverheadData data;
  data.name = options.name;
  data.provenance = options.provenance;
  data.profiler_us_per_event = options.profiler_us_per_event;
  for (size_t i = 0; i < cost::kOverheadPartCount; ++i) {
    // For all names together: within a workload by how often they come.
    std::map<uint32_t, double> counts;
    for (const auto& [name, list] : samples.parts[i]) {
      for (const OverheadSample& sample : list) {
        counts[sample.workload] += 1;
      }
    }
    std::vector<WeightedSample> all;
    for (const auto& [name, list] : samples.parts[i]) {
      std::vector<WeightedSample> weighted;
      AddWeighted(list, 1, weighted);
      data.parts[i][name] = RowOf(weighted, options.outliers);
      for (const OverheadSample& sample : list) {
        all.push_back({.us = sample.us,
                       .events = static_cast<double>(sample.events),
                       .weight = 1 / (counts[sample.workload] + kHalfWeight)});
      }
    }
    if (!all.empty()) {
      data.parts[i][std::string(cost::kPooledName)] =
          RowOf(all, options.outliers);
    }
  }
  TakeReturnsOut(data);
  return data;
}

}  // namespace stepcast::fit
