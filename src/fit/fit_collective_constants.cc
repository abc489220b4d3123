#include "fit/fit_collective_constants.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "base/minimize.h"
#include "cost/collectives/formula.h"
#include "fit/fit_collective_curve.h"
#include "ir/names.h"

namespace stepcast::fit {
namespace {

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

}  // namespace

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
  constexpr std::array<std::string_view, 5> kKinds = {
      "all_reduce.", "all_to_all.", "all_gather.", "reduce_scatter.",
      "send_recv."};
  for (const std::string_view kind : kKinds) {
    Fit(Chosen(kind), select(false, kind), input.clusters, constants);
  }
  Fit(Chosen("network."), select(true, {}), input.clusters, constants);
  return constants;
}

}  // namespace stepcast::fit
