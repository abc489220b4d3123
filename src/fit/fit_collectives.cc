#include "fit/fit_collectives.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/parallel.h"
#include "cost/collectives/collective_store.h"
#include "cost/collectives/formula.h"
#include "fit/collective_points.h"
#include "fit/fit_collective_constants.h"
#include "fit/fit_collective_curve.h"
#include "ir/names.h"

namespace stepcast::fit {
namespace {

using measurements::CollectiveRow;

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

// What all systems share is told from systems of as many GPUs.
constexpr size_t kSharedFromGpus = 3;

using LineKey = std::tuple<uint16_t, int, bool>;

}  // namespace

Result<CollectiveLeaveOut> LeaveOutCollectives(
    const measurements::CollectiveRows& rows,
    std::span<const hw::Node> platforms, size_t threads) {
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

Result<CollectiveFit> FitCollectives(const measurements::CollectiveRows& rows,
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

}  // namespace stepcast::fit
