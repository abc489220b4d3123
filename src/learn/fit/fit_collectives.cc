#include "learn/fit/fit_collectives.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/minimize.h"
#include "base/parallel.h"
#include "base/stats.h"
#include "cost/collectives/collective_store.h"
#include "cost/collectives/constants.h"
#include "cost/collectives/formula.h"
#include "hw/cluster.h"
#include "ir/names.h"
#include "learn/fit/collective_points.h"

namespace stepcast::learn {
namespace {

// Errors above this are outliers: repeats of one case differ by 5 % in the
// median.
constexpr double kOutlier = 0.05;

// What an octave's bend costs, against points of weight 1: its size, so that
// it fades where there are no points, and its change from one octave to the
// next. The best of eight pairs by five-fold cross-validation over the sizes
// that are not held out: 3.1 % on all-to-all and 2.8 % on all-reduce; the worst
// pair had 4.9 and 3.0.
constexpr double kBendCost = 0.005;
constexpr double kChangeCost = 0.1;

// Pull towards the formula's ramp, for curves of few points.
constexpr double kPullToFormula = 0.02;

// Blends outside are a latency or a rate gone wrong.
constexpr double kLeastBlend = 0.3;
constexpr double kMostBlend = 6;

cost::Ramp RampFrom(std::span<const double> logs) {
  return {.latency_us = std::exp(logs[0]),
          .bus_gbs = std::exp(logs[1]),
          .blend = std::clamp(std::exp(logs[2]), kLeastBlend, kMostBlend)};
}

// A symmetric system with a diagonal and one band, solved in place.
class BandedSystem {
 public:
  explicit BandedSystem(size_t size)
      : diagonal_(size), off_diagonal_(size), right_(size) {}

  void AddSquare(size_t i, double weight) { diagonal_[i] += weight; }
  /// Adds weight (a x_i + b x_i+1 - value)^2.
  void AddPair(size_t i, double a, double b, double value, double weight) {
    diagonal_[i] += weight * a * a;
    right_[i] += weight * a * value;
    if (b != 0) {
      diagonal_[i + 1] += weight * b * b;
      off_diagonal_[i] += weight * a * b;
      right_[i + 1] += weight * b * value;
    }
  }

  std::vector<double> Solve() {
    const size_t size = diagonal_.size();
    for (size_t i = 1; i < size; ++i) {
      const double factor = off_diagonal_[i - 1] / diagonal_[i - 1];
      diagonal_[i] -= factor * off_diagonal_[i - 1];
      right_[i] -= factor * right_[i - 1];
    }
    std::vector<double> x(size);
    for (size_t i = size; i-- > 0;) {
      const double next = i + 1 < size ? off_diagonal_[i] * x[i + 1] : 0;
      x[i] = (right_[i] - next) / diagonal_[i];
    }
    return x;
  }

 private:
  std::vector<double> diagonal_;
  std::vector<double> off_diagonal_;
  std::vector<double> right_;
};

// The bend at each octave from the first point on, in natural logarithms.
std::vector<double> FitBends(const MeasuredCurve& curve,
                             const cost::Ramp& ramp) {
  const double first = std::log2(curve.points.front().wire_bytes);
  const double last = std::log2(curve.points.back().wire_bytes);
  const auto count = static_cast<size_t>(std::ceil(last - first)) + 1;
  BandedSystem system(count);
  for (const SizePoint& point : curve.points) {
    const double at = std::log2(point.wire_bytes) - first;
    const auto left = std::min(static_cast<size_t>(at), count - 1);
    const double part = at - static_cast<double>(left);
    const double residual = point.log_us - std::log(ramp.Us(point.wire_bytes));
    system.AddPair(left, 1 - part, left + 1 < count ? part : 0, residual,
                   point.weight);
  }
  for (size_t i = 0; i < count; ++i) {
    system.AddSquare(i, kBendCost);
    if (i + 1 < count) {
      system.AddPair(i, -1, 1, 0, kChangeCost);
    }
  }
  return system.Solve();
}

// Pools neighbours until nothing falls: the closest such sequence.
void MakeRising(std::vector<double>& values) {
  struct Pool {
    double sum = 0;
    size_t count = 0;
  };
  std::vector<Pool> pools;
  const auto mean = [](const Pool& pool) {
    return pool.sum / static_cast<double>(pool.count);
  };
  for (const double value : values) {
    pools.push_back({.sum = value, .count = 1});
    while (pools.size() > 1 && mean(pools.back()) < mean(pools.end()[-2])) {
      pools.end()[-2].sum += pools.back().sum;
      pools.end()[-2].count += pools.back().count;
      pools.pop_back();
    }
  }
  size_t place = 0;
  for (const Pool& pool : pools) {
    for (size_t i = 0; i < pool.count; ++i) {
      values[place++] = mean(pool);
    }
  }
}

cost::CollectiveCurve FitTimes(const MeasuredCurve& measured,
                               const cost::Ramp& formula) {
  const cost::Ramp ramp = FitRamp(measured, formula);
  const std::vector<double> bends = FitBends(measured, ramp);
  cost::CollectiveCurve curve{
      .kind = measured.kind,
      .group = measured.group,
      .adds_bytes = measured.adds_bytes,
      .rows = measured.rows,
      .from_log2 = std::log2(measured.points.front().wire_bytes),
      .latency_us = ramp.latency_us,
      .bus_gbs = ramp.bus_gbs,
      .blend = ramp.blend};
  for (size_t i = 0; i < bends.size(); ++i) {
    const double bytes = std::exp2(curve.from_log2 + static_cast<double>(i));
    curve.us.push_back(std::log(ramp.Us(bytes)) + bends[i]);
  }
  MakeRising(curve.us);
  for (double& us : curve.us) {
    us = std::exp(us);
  }
  return curve;
}

// How far rows are from curves that did not see their size: a fifth of the
// sizes is left out in turn, except for the ends, beyond which there is no
// data.
void SetSpread(const MeasuredCurve& measured, const cost::Ramp& formula,
               cost::CollectiveCurve& curve) {
  constexpr size_t kSizeFolds = 5;
  std::vector<double> ratios;
  for (size_t fold = 0; fold < kSizeFolds; ++fold) {
    MeasuredCurve kept = measured;
    kept.points.clear();
    std::vector<double> left_out;
    for (size_t i = 0; i < measured.points.size(); ++i) {
      const bool end = i == 0 || i + 1 == measured.points.size();
      if (!end && i % kSizeFolds == fold) {
        left_out.push_back(measured.points[i].wire_bytes);
      } else {
        kept.points.push_back(measured.points[i]);
      }
    }
    if (left_out.empty()) {
      continue;
    }
    const cost::CollectiveCurve without = FitTimes(kept, formula);
    for (size_t i = 0; i < measured.row_us.size(); ++i) {
      if (std::ranges::binary_search(left_out, measured.row_bytes[i])) {
        ratios.push_back(std::log2(measured.row_us[i] /
                                   without.Us(measured.row_bytes[i], formula)));
      }
    }
  }
  curve.log2_p10 = std::min(0.0, Quantile(ratios, 0.1));
  curve.log2_p90 = std::max(0.0, Quantile(ratios, 0.9));
}

}  // namespace

double SoftLoss(double residual) {
  const double scaled = residual / kOutlier;
  return 2 * (std::sqrt(1 + scaled * scaled) - 1);
}

cost::Ramp FitRamp(const MeasuredCurve& curve, const cost::Ramp& formula) {
  CHECK(!curve.points.empty());
  const std::array<double, 3> start = {std::log(formula.latency_us),
                                       std::log(formula.bus_gbs),
                                       std::log(formula.blend)};
  const auto loss = [&](std::span<const double> logs) {
    const cost::Ramp ramp = RampFrom(logs);
    double sum = 0;
    for (const SizePoint& point : curve.points) {
      sum += point.weight *
             SoftLoss(std::log(ramp.Us(point.wire_bytes)) - point.log_us);
    }
    for (size_t i = 0; i < start.size(); ++i) {
      sum += kPullToFormula * SoftLoss(logs[i] - start[i]);
    }
    return sum;
  };
  std::vector<double> best(start.begin(), start.end());
  // Once more from where it stopped: a simplex may shrink too early.
  for (int round = 0; round < 3; ++round) {
    best = Minimize(loss, best, {.evaluations = 300, .first_step = 0.2});
  }
  return RampFrom(best);
}

cost::CollectiveCurve FitCurve(const MeasuredCurve& curve,
                               const cost::Ramp& formula) {
  cost::CollectiveCurve fitted = FitTimes(curve, formula);
  SetSpread(curve, formula, fitted);
  return fitted;
}

namespace {

// Fits the constants that the collectives of all systems share.

struct CollectiveInput {
  std::span<const MeasuredCurve> curves;
  std::span<const hw::Cluster> clusters;  // By system.
  std::span<const std::string> systems;
  /// Systems of this GPU are left out; empty: none.
  std::string without_gpu;
};

// Kind by kind, then the network. Every curve counts alike; those of odd
// systems do not. Without curves a constant keeps its usual value.
cost::CollectiveConstants FitCollectiveConstants(const CollectiveInput& input);

using cost::CollectiveConstantInfo;
using cost::CollectiveConstants;

// Pull of each constant towards its usual value, against curves of weight 1:
// enough to hold one that no row speaks of.
constexpr double kPullToUsual = 0.02;

// Some constants of a set, by the start of their keys, as logarithms.
class Chosen {
 public:
  explicit Chosen(std::string_view prefix) {
    for (const CollectiveConstantInfo& info : cost::CollectiveConstantInfos()) {
      const bool with = info.key.starts_with(prefix) ||
                        (prefix == "all_reduce." && info.key == "switch.gain");
      if (with) {
        infos_.push_back(&info);
      }
    }
  }

  std::vector<double> Get(CollectiveConstants constants) const {
    std::vector<double> logs;
    for (const CollectiveConstantInfo* info : infos_) {
      logs.push_back(std::log(*info->place(constants)));
    }
    return logs;
  }

  void Set(std::span<const double> logs, CollectiveConstants& constants) const {
    for (size_t i = 0; i < infos_.size(); ++i) {
      *infos_[i]->place(constants) =
          std::clamp(std::exp(logs[i]), infos_[i]->low, infos_[i]->high);
    }
  }

 private:
  std::vector<const CollectiveConstantInfo*> infos_;
};

double CurveLoss(const MeasuredCurve& curve, const hw::Cluster& cluster,
                 const CollectiveConstants& constants) {
  const cost::CollectiveFormula formula(cluster, constants);
  const cost::Ramp ramp = formula.RampOf(curve.LoadFor(1));
  double sum = 0;
  double weights = 0;
  for (const SizePoint& point : curve.points) {
    sum += point.weight *
           SoftLoss(std::log(ramp.Us(point.wire_bytes)) - point.log_us);
    weights += point.weight;
  }
  return sum / weights;
}

// Sizes closer than a quarter of an octave add nothing here.
MeasuredCurve Thin(const MeasuredCurve& curve) {
  constexpr double kApart = 0.25;
  MeasuredCurve thin{.system = curve.system,
                     .kind = curve.kind,
                     .group = curve.group,
                     .adds_bytes = curve.adds_bytes};
  for (const SizePoint& point : curve.points) {
    if (thin.points.empty() ||
        std::log2(point.wire_bytes / thin.points.back().wire_bytes) > kApart) {
      thin.points.push_back(point);
    }
  }
  return thin;
}

void Fit(const Chosen& chosen, std::span<const MeasuredCurve> curves,
         std::span<const hw::Cluster> clusters,
         CollectiveConstants& constants) {
  if (curves.empty()) {
    return;
  }
  const std::vector<double> usual = chosen.Get(CollectiveConstants{});
  const auto loss = [&](std::span<const double> logs) {
    CollectiveConstants tried = constants;
    chosen.Set(logs, tried);
    double sum = 0;
    for (const MeasuredCurve& curve : curves) {
      sum += CurveLoss(curve, clusters[curve.system], tried);
    }
    for (size_t i = 0; i < logs.size(); ++i) {
      sum += kPullToUsual * SoftLoss(logs[i] - usual[i]);
    }
    return sum;
  };
  std::vector<double> best = usual;
  for (int round = 0; round < 4; ++round) {
    best = Minimize(loss, best, {.evaluations = 500, .first_step = 0.2});
  }
  chosen.Set(best, constants);
}

std::string_view GpuOf(std::string_view system) {
  return system.substr(0, system.find('/'));
}

CollectiveConstants FitCollectiveConstants(const CollectiveInput& input) {
  const auto select = [&](bool network, std::string_view kind) {
    std::vector<MeasuredCurve> chosen;
    for (const MeasuredCurve& curve : input.curves) {
      const std::string& system = input.systems[curve.system];
      if ((curve.group.nodes > 1) != network ||
          GpuOf(system) == input.without_gpu ||
          !WhyOdd(system, network).empty() ||
          (network && input.clusters[curve.system].node.nics == 0)) {
        continue;
      }
      const bool of_kind =
          network || kind == fmt::format("{}.", ir::Name(curve.kind));
      if (of_kind) {
        chosen.push_back(Thin(curve));
      }
    }
    return chosen;
  };
  CollectiveConstants constants;
  constexpr std::array<std::string_view, 5> kFittedKinds = {
      "all_reduce.", "all_to_all.", "all_gather.", "reduce_scatter.",
      "send_recv."};
  for (const std::string_view kind : kFittedKinds) {
    Fit(Chosen(kind), select(false, kind), input.clusters, constants);
  }
  Fit(Chosen("network."), select(true, {}), input.clusters, constants);
  return constants;
}

std::vector<std::string> GpusOf(const std::vector<std::string>& systems) {
  std::vector<std::string> gpus;
  gpus.reserve(systems.size());
  for (const std::string& system : systems) {
    gpus.emplace_back(GpuOf(system));
  }
  std::ranges::sort(gpus);
  gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
  return gpus;
}

// What all systems share is inferred from systems of at least so many GPUs.
constexpr size_t kSharedFromGpus = 3;

using LineKey = std::tuple<uint16_t, int, bool>;

}  // namespace

Result<CollectiveLeaveOut> LeaveOutCollectives(
    const CollectiveRows& rows, std::span<const hw::Node> platforms,
    size_t threads) {
  ASSIGN_OR_RETURN(const auto clusters, ClustersOf(rows, platforms));
  const std::vector<MeasuredCurve> curves = GroupCurves(rows);
  const std::vector<std::string> gpus = GpusOf(rows.systems);
  std::vector<cost::CollectiveConstants> without(gpus.size());
  ParallelFor(gpus.size(), threads, [&](size_t i) {
    without[i] = FitCollectiveConstants({.curves = curves,
                                         .clusters = clusters,
                                         .systems = rows.systems,
                                         .without_gpu = gpus[i]});
  });
  std::map<LineKey, Errors> by_line;
  std::map<std::pair<int, bool>, Errors> by_kind;
  std::vector<double> ratios;
  for (const CollectiveRow& row : rows.rows) {
    const std::string& system = rows.systems[row.system];
    const bool network = row.nodes > 1;
    if (network && clusters[row.system].node.nics == 0) {
      continue;
    }
    const auto gpu = std::ranges::find(gpus, GpuOf(system)) - gpus.begin();
    const cost::CollectiveFormula formula(clusters[row.system],
                                          without[static_cast<size_t>(gpu)]);
    const double us = formula.Us(LoadOf(row));
    const int kind = static_cast<int>(row.kind);
    by_line[{row.system, kind, network}].Add(us, row.time_us);
    const bool odd = !WhyOdd(system, network).empty();
    if (!odd || !network) {
      by_kind[{kind, network}].Add(us, row.time_us);
    }
    if (!odd) {
      ratios.push_back(std::log2(row.time_us / us));
    }
  }
  CollectiveLeaveOut result;
  for (const auto& [key, errors] : by_line) {
    const std::string& system = rows.systems[std::get<0>(key)];
    const bool network = std::get<2>(key);
    result.lines.push_back(
        {.system = system,
         .kind = std::string(
             ir::Name(static_cast<ir::CollectiveKind>(std::get<1>(key)))),
         .over_network = network,
         .odd = WhyOdd(system, network),
         .errors = errors.Summary()});
  }
  for (const auto& [key, errors] : by_kind) {
    result.totals.push_back({.system = "all",
                             .kind = std::string(ir::Name(
                                 static_cast<ir::CollectiveKind>(key.first))),
                             .over_network = key.second,
                             .odd = {},
                             .errors = errors.Summary()});
  }
  result.log2_p10 = std::min(0.0, Quantile(ratios, 0.1));
  result.log2_p90 = std::max(0.0, Quantile(ratios, 0.9));
  return result;
}

Result<CollectiveFit> FitCollectives(const CollectiveRows& rows,
                                     std::span<const hw::Node> platforms,
                                     size_t threads) {
  ASSIGN_OR_RETURN(const auto clusters, ClustersOf(rows, platforms));
  const std::vector<MeasuredCurve> curves = GroupCurves(rows);
  CollectiveFit fit;
  ASSIGN_OR_RETURN(fit.constants, cost::CollectiveStore().LoadConstants());
  if (GpusOf(rows.systems).size() >= kSharedFromGpus) {
    ASSIGN_OR_RETURN(const CollectiveLeaveOut left_out,
                     LeaveOutCollectives(rows, platforms, threads));
    fit.constants_fitted = true;
    fit.constants = FitCollectiveConstants({.curves = curves,
                                            .clusters = clusters,
                                            .systems = rows.systems,
                                            .without_gpu = {}});
    fit.constants.log2_p10 = left_out.log2_p10;
    fit.constants.log2_p90 = left_out.log2_p90;
  }
  std::vector<cost::CollectiveCurve> fitted(curves.size());
  ParallelFor(curves.size(), threads, [&](size_t i) {
    const cost::CollectiveFormula formula(clusters[curves[i].system],
                                          fit.constants);
    fitted[i] = FitCurve(curves[i], formula.RampOf(curves[i].LoadFor(1)));
  });
  for (const std::string& system : rows.systems) {
    fit.profiles.push_back({.system = system, .curves = {}});
  }
  for (size_t i = 0; i < curves.size(); ++i) {
    fit.profiles[curves[i].system].curves.push_back(std::move(fitted[i]));
  }
  return fit;
}

std::vector<ProfileFile> FilesOf(const CollectiveFit& fit,
                                 std::string_view provenance) {
  std::vector<ProfileFile> files;
  if (fit.constants_fitted) {
    files.push_back(
        {.path = "collective_constants.toml",
         .text = CollectiveConstantsText(fit.constants, provenance)});
  }
  for (const cost::CollectiveProfile& profile : fit.profiles) {
    files.push_back({.path = profile.system + ".toml",
                     .text = CollectiveProfileText(profile, provenance)});
  }
  return files;
}

}  // namespace stepcast::learn
