#include "fit/pool_hosts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "base/stats.h"

namespace stepcast::fit {
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

}  // namespace stepcast::fit
