#include "learn/fit/overheads/fit_overheads.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/stats.h"

namespace stepcast::learn {
namespace {

using cost::OverheadRow;

// Below this, in microseconds, recorders round and logarithms tell nothing.
constexpr double kLeastUs = 0.2;

using Key = std::pair<size_t, std::string>;  // Part, name.

struct Value {
  size_t host = 0;
  double log_us = 0;
  double count = 0;
};

// Parts that the host's speed decides; the others are the device's.
bool IsHostPart(size_t part) {
  return part < cost::kHostKindCount;
}

double WeightedMedian(std::vector<std::pair<double, double>> values) {
  std::ranges::sort(values);
  double total = 0;
  for (const auto& [value, weight] : values) {
    total += weight;
  }
  double below = 0;
  for (const auto& [value, weight] : values) {
    below += weight;
    if (below >= total / 2) {
      return value;
    }
  }
  return 0;
}

// Finds log usual(name) and log slowness(host) in turns.
class Solver {
 public:
  explicit Solver(std::span<const HostRows> hosts) : slowness_(hosts.size()) {
    for (size_t host = 0; host < hosts.size(); ++host) {
      for (size_t part = 0; part < cost::kHostKindCount; ++part) {
        AddRows(host, part, hosts[host].usual.parts[part]);
      }
    }
    constexpr int kRounds = 20;  // It settles within five.
    for (int round = 0; round < kRounds; ++round) {
      SolveNames();
      SolveHosts();
    }
  }

  const std::vector<double>& slowness() const { return slowness_; }

 private:
  void AddRows(size_t host, size_t part, const cost::OverheadRows& rows) {
    for (const auto& [name, row] : rows) {
      if (name != cost::kPooledName && row.count > 0) {
        values_[{part, name}].push_back(
            {.host = host,
             .log_us = std::log(std::max(row.mean_us, kLeastUs)),
             .count = static_cast<double>(row.count)});
      }
    }
  }
  void SolveNames() {
    for (const auto& [key, values] : values_) {
      std::vector<double> logs;
      for (const Value& value : values) {
        logs.push_back(value.log_us - slowness_[value.host]);
      }
      usual_[key] = Quantile(std::move(logs), 0.5);
    }
  }
  void SolveHosts() {
    std::vector<std::vector<std::pair<double, double>>> ratios(
        slowness_.size());
    for (const auto& [key, values] : values_) {
      for (const Value& value : values) {
        if (values.size() > 1) {  // Else it is its own measure.
          // By the time it should take: a host's own would favour what is
          // unusually slow there.
          ratios[value.host].emplace_back(value.log_us - usual_[key],
                                          value.count * std::exp(usual_[key]));
        }
      }
    }
    for (size_t host = 0; host < slowness_.size(); ++host) {
      slowness_[host] = WeightedMedian(std::move(ratios[host]));
    }
    const double middle = Quantile(slowness_, 0.5);
    for (double& slowness : slowness_) {
      slowness -= middle;
    }
  }

  std::map<Key, std::vector<Value>> values_;
  std::map<Key, double> usual_;
  std::vector<double> slowness_;  // Logarithms.
};

// How much all samples of a host take on top of the usual ones.
double StallFactor(const HostRows& host) {
  double all = 0;
  double usual = 0;
  for (size_t part = 0; part < cost::kHostKindCount; ++part) {
    for (const auto& [name, row] : host.all.parts[part]) {
      const auto count = static_cast<double>(row.count);
      if (name != cost::kPooledName) {
        all += count * row.mean_us;
        usual += count * host.usual.parts[part].at(name).mean_us;
      }
    }
  }
  return usual > 0 ? all / usual : 1;
}

double MedianStallFactor(std::span<const HostRows> hosts) {
  std::vector<double> factors;
  factors.reserve(hosts.size());
  for (const HostRows& host : hosts) {
    factors.push_back(StallFactor(host));
  }
  return Quantile(std::move(factors), 0.5);
}

OverheadRow Scaled(OverheadRow row, double factor) {
  for (double* value :
       {&row.mean_us, &row.std_us, &row.p10_us, &row.p50_us, &row.p90_us}) {
    *value *= factor;
  }
  return row;
}

}  // namespace

std::vector<double> Slowness(std::span<const HostRows> hosts) {
  std::vector<double> factors;
  const Solver solver(hosts);
  for (const double slowness : solver.slowness()) {
    factors.push_back(std::exp(slowness));
  }
  return factors;
}

cost::OverheadData PoolHosts(std::span<const HostRows> hosts) {
  const std::vector<double> slowness = Slowness(hosts);
  const double stalls = MedianStallFactor(hosts);
  cost::OverheadData pooled;
  for (size_t part = 0; part < cost::kOverheadPartCount; ++part) {
    std::map<std::string, std::vector<OverheadRow>> rows;
    for (size_t host = 0; host < hosts.size(); ++host) {
      const double factor = IsHostPart(part) ? 1 / slowness[host] : 1;
      for (const auto& [name, row] : hosts[host].usual.parts[part]) {
        rows[name].push_back(Scaled(row, factor));
      }
    }
    for (const auto& [name, list] : rows) {
      std::vector<double> means;
      std::vector<OverheadRow> alike;  // Each host has the same weight.
      int64_t count = 0;
      for (OverheadRow row : list) {
        means.push_back(row.mean_us);
        count += std::exchange(row.count, 1);
        alike.push_back(row);
      }
      OverheadRow row = cost::Pool(alike);
      row.count = count;
      row.mean_us =
          Quantile(std::move(means), 0.5) * (IsHostPart(part) ? stalls : 1);
      pooled.parts[part][name] = row;
    }
  }
  return pooled;
}

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

// The rows of one workload. The row of all names together is for names that
// were never seen, and those are not stalls: without outliers.
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

double EstimateProfilerCost(const OverheadSamples& samples) {
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

}  // namespace stepcast::learn
