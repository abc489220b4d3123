#include "fit/launches.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/minimize.h"
#include "base/stats.h"
#include "cost/kernels/family.h"

namespace stepcast::fit {
namespace {

using measurements::KernelRow;
using measurements::Part;
using measurements::Timing;

// The kernel starts this share of the floor after the first event. Fitted to
// the straight parts of the elementwise rows of five NVIDIA GPUs (0.46-0.64
// with the kernel's own latency in it) and of two by AMD (0.85-1.0).
constexpr double kLeadShare = 0.5;
constexpr double kAmdLeadShare = 0.75;
// Products go through a library that is called before the launch: 0.45-0.7.
constexpr double kGemmLeadShare = 0.6;
// The share of the rows that surely sit on the floor, and which of them: some
// short kernels take a longer way through the library.
constexpr double kShortestRows = 0.1;
constexpr double kFloorQuantile = 0.2;

double LeadShare(std::string_view op, const cost::Machine& machine) {
  if (op == "linear" || op == "bmm") {
    return kGemmLeadShare;
  }
  return machine.device.generation == hw::Generation::kCdna ? kAmdLeadShare
                                                            : kLeadShare;
}

}  // namespace

void FitLaunches(const measurements::KernelRows& rows, uint16_t gpu,
                 const cost::Machine& machine, cost::Profile& profile) {
  // By op: the formula's time and the measured one.
  std::map<std::string, std::vector<std::pair<double, double>>> ops;
  for (const KernelRow& row : rows.rows) {
    const cost::Family* family = cost::FindFamily(row.shape);
    if (row.gpu == gpu && row.timing == Timing::kEventOp && family != nullptr &&
        measurements::PartOf(row.shape) == Part::kFit) {
      ops[rows.ops[row.op]].emplace_back(
          family->base(row.shape, machine).time_us, row.time_us);
    }
  }
  constexpr size_t kFewestRows = 100;
  for (auto& [op, times] : ops) {
    if (times.size() < kFewestRows) {
      continue;
    }
    std::ranges::sort(times);
    std::vector<double> shortest;
    const auto count =
        static_cast<size_t>(kShortestRows * static_cast<double>(times.size()));
    for (size_t i = 0; i < count; ++i) {
      shortest.push_back(times[i].second);
    }
    const double floor = Quantile(shortest, kFloorQuantile);
    profile.launches[op] = {.floor_us = floor,
                            .lead_us = LeadShare(op, machine) * floor};
  }
}

void FitDrift(const DriftInput& input, bool scale_is_free,
              cost::LaunchCost& launch) {
  // lead, drift, power, and the kernels' common scale in log2.
  const auto loss = [&](std::span<const double> x) {
    if (x[0] < 0 || x[1] < 0 || x[2] < 0.3 || x[2] > 4) {
      return 1e9;
    }
    const double scale = scale_is_free ? std::exp2(x[3]) : 1.0;
    double sum = 0;
    for (size_t i = 0; i < input.time_us.size(); ++i) {
      const double estimate = x[0] + x[1] * std::pow(input.place[i], x[2]) +
                              scale * input.kernel_us[i];
      sum += std::abs(std::log(estimate / input.time_us[i]));
    }
    return sum;
  };
  std::vector<double> start = {50, 200, 1.4};
  if (scale_is_free) {
    start.push_back(0);
  }
  const std::vector<double> best =
      Minimize(loss, start, {.evaluations = 300, .first_step = 0.5});
  launch.lead_us = best[0];
  launch.drift_us = best[1];
  launch.drift_power = best[2];
  launch.floor_us = launch.lead_us;
}

}  // namespace stepcast::fit
