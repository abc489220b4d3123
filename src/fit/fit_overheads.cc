#include "fit/fit_overheads.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/stats.h"
#include "fit/pool_hosts.h"

namespace stepcast::fit {
namespace {

using cost::OverheadPart;
using cost::OverheadRow;

// Tukey's fences, in widths of the middle half.
constexpr double kTukeyWidths = 1.5;

std::vector<double> TimesOf(std::span<const OverheadSample> samples) {
  std::vector<double> times;
  times.reserve(samples.size());
  for (const OverheadSample& sample : samples) {
    times.push_back(sample.us);
  }
  return times;
}

std::vector<OverheadSample> WithoutOutliers(
    std::span<const OverheadSample> samples) {
  const std::vector<double> times = TimesOf(samples);
  const double q1 = Quantile(times, 0.25);
  const double q3 = Quantile(times, 0.75);
  const double reach = kTukeyWidths * (q3 - q1);
  std::vector<OverheadSample> kept;
  for (const OverheadSample& sample : samples) {
    if (sample.us >= q1 - reach && sample.us <= q3 + reach) {
      kept.push_back(sample);
    }
  }
  return kept;
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

std::vector<OverheadSample> OfWorkload(std::span<const OverheadSample> samples,
                                       uint32_t workload) {
  std::vector<OverheadSample> own;
  for (const OverheadSample& sample : samples) {
    if (sample.workload == workload) {
      own.push_back(sample);
    }
  }
  return own;
}

// The rows of one workload. What is said of all names together is for names
// that were never seen, and those are no stalls: without outliers.
cost::OverheadData FitWorkload(const OverheadSamples& samples,
                               uint32_t workload, Outliers outliers) {
  cost::OverheadData data;
  for (size_t i = 0; i < cost::kOverheadPartCount; ++i) {
    std::vector<OverheadSample> all;
    for (const auto& [name, list] : samples.parts[i]) {
      const std::vector<OverheadSample> own = OfWorkload(list, workload);
      if (!own.empty()) {
        data.parts[i][name] = RowOf(own, outliers);
        all.insert(all.end(), own.begin(), own.end());
      }
    }
    if (!all.empty()) {
      data.parts[i][std::string(cost::kPooledName)] =
          RowOf(all, Outliers::kTukey);
    }
  }
  return data;
}

std::vector<uint32_t> WorkloadsOf(const OverheadSamples& samples) {
  std::set<uint32_t> workloads;
  for (const OverheadSamples::ByName& part : samples.parts) {
    for (const auto& [name, list] : part) {
      for (const OverheadSample& sample : list) {
        workloads.insert(sample.workload);
      }
    }
  }
  return {workloads.begin(), workloads.end()};
}

}  // namespace

double GuessProfilerCost(const OverheadSamples& samples) {
  constexpr double kMostUs = 2;
  constexpr double kOwnShare = 0.5;
  std::vector<double> per_event;
  for (const auto& [name, list] : samples[OverheadPart::kNoLaunch]) {
    for (const OverheadSample& sample : list) {
      if (sample.events > 1) {
        per_event.push_back(sample.us / sample.events);
      }
    }
  }
  return per_event.empty()
             ? 0
             : std::min(kMostUs, kOwnShare * Quantile(per_event, 0.1));
}

OverheadRow RowOf(std::span<const OverheadSample> samples, Outliers outliers) {
  const std::vector<OverheadSample> kept =
      outliers == Outliers::kTukey
          ? WithoutOutliers(samples)
          : std::vector<OverheadSample>(samples.begin(), samples.end());
  OverheadRow row;
  if (kept.empty()) {
    return row;
  }
  row.count = static_cast<int64_t>(kept.size());
  const auto count = static_cast<double>(kept.size());
  double square = 0;
  for (const OverheadSample& sample : kept) {
    row.mean_us += sample.us / count;
    row.events += sample.events / count;
    square += sample.us * sample.us / count;
  }
  row.std_us = std::sqrt(std::max(0.0, square - row.mean_us * row.mean_us));
  const std::vector<double> times = TimesOf(kept);
  row.p10_us = Quantile(times, 0.1);
  row.p50_us = Quantile(times, 0.5);
  row.p90_us = Quantile(times, 0.9);
  return row;
}

cost::OverheadData FitOverheads(const OverheadSamples& samples,
                                const FitOverheadsOptions& options) {
  const std::vector<uint32_t> workloads = WorkloadsOf(samples);
  std::vector<std::string> provenance = options.provenance;
  cost::OverheadData data;
  if (workloads.size() == 1) {
    data = FitWorkload(samples, workloads.front(), options.outliers);
  } else {
    std::vector<HostRows> hosts;
    hosts.reserve(workloads.size());
    for (const uint32_t workload : workloads) {
      hosts.push_back(
          {.all = FitWorkload(samples, workload, options.outliers),
           .usual = FitWorkload(samples, workload, Outliers::kTukey)});
    }
    data = PoolHosts(hosts);
    const std::vector<double> slowness = Slowness(hosts);
    for (size_t i = 0; i < slowness.size(); ++i) {
      if (workloads[i] < provenance.size()) {
        provenance[workloads[i]] +=
            fmt::format(", takes {:.2f} times what is here", slowness[i]);
      }
    }
  }
  data.name = options.name;
  data.provenance = std::move(provenance);
  data.profiler_us_per_event = options.profiler_us_per_event;
  TakeReturnsOut(data);
  return data;
}

}  // namespace stepcast::fit
