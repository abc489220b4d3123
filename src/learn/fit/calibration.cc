#include "learn/fit/calibration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/rng.h"
#include "base/stats.h"
#include "ir/shape_set.h"

namespace stepcast::learn {
namespace {

// One chip says nothing about how chips differ, and fewer rows than this
// nothing about a chip.
constexpr size_t kFewestChips = 2;
constexpr size_t kFewestChipRows = 10;

using ChipMisses = std::map<std::string, std::vector<double>>;

// The 90 % point of Student's distribution with so many degrees of freedom.
double StudentP90(size_t degrees) {
  constexpr std::array kPoints = {3.078, 1.886, 1.638, 1.533, 1.476,
                                  1.440, 1.415, 1.397, 1.383, 1.372};
  constexpr double kNormal = 1.282;
  return degrees <= kPoints.size() ? kPoints[degrees - 1] : kNormal;
}

// A chip is off as a whole, and its rows are off about that. The first is a
// draw from about zero, as wide as the few chips show; the second is the mean
// of theirs. Both add by their squares.
cost::FormulaSpread SpreadOf(const ChipMisses& chips) {
  const auto n = static_cast<double>(chips.size());
  double squares = 0;
  double below = 0;
  double above = 0;
  for (const auto& [chip, misses] : chips) {
    const double median = Quantile(misses, 0.5);
    squares += median * median / n;
    below += (median - Quantile(misses, 0.1)) / n;
    above += (Quantile(misses, 0.9) - median) / n;
  }
  const double chip =
      StudentP90(chips.size()) * std::sqrt(squares * (1 + 1 / n));
  return {.log2_p10 = -std::hypot(chip, below),
          .log2_p90 = std::hypot(chip, above)};
}

}  // namespace

cost::FormulaSpreads SpreadsOf(std::span<const Misses> misses) {
  std::map<std::string, std::pair<ChipMisses, ChipMisses>> keys;
  for (const Misses& one : misses) {
    if (one.nothing.size() < kFewestChipRows) {
      continue;
    }
    for (const std::string& key : {fmt::format("{}-{}", one.family, one.type),
                                   one.family, std::string("other")}) {
      // Families have equal weight in the value for families without rows.
      const std::string chip = key == "other"
                                   ? fmt::format("{} {}", one.chip, one.family)
                                   : one.chip;
      auto& [nothing, ceilings] = keys[key];
      nothing[chip].insert(nothing[chip].end(), one.nothing.begin(),
                           one.nothing.end());
      ceilings[chip].insert(ceilings[chip].end(), one.ceilings.begin(),
                            one.ceilings.end());
    }
  }
  cost::FormulaSpreads spreads;
  for (const auto& [key, chips] : keys) {
    if (chips.first.size() < kFewestChips) {
      continue;
    }
    spreads[key] = {.nothing = SpreadOf(chips.first),
                    .ceilings = SpreadOf(chips.second)};
  }
  return spreads;
}

std::string SpreadsText(const cost::FormulaSpreads& spreads,
                        std::string_view provenance) {
  std::string text = fmt::format(
      "# {}\n"
      "# log2 of measured over estimated where nothing was fitted to a GPU: "
      "80 % of its\n"
      "# kernels are expected from p10 to p90. From the errors on chips left "
      "out of the\n"
      "# fits, each chip counting alike: with nothing measured on the GPU, "
      "and given its\n"
      "# ceilings. A family with its type of elements goes before the family; "
      "'other' is\n"
      "# for families that nobody measured.\n",
      provenance);
  for (const auto& [key, spread] : spreads) {
    text += fmt::format(
        "\n[{}]\nlog2_p10 = {:.3f}\nlog2_p90 = {:.3f}\n"
        "ceilings_log2_p10 = {:.3f}\nceilings_log2_p90 = {:.3f}\n",
        key, spread.nothing.log2_p10, spread.nothing.log2_p90,
        spread.ceilings.log2_p10, spread.ceilings.log2_p90);
  }
  return text;
}

namespace {

// Rows that a pair of quantiles is read from: those at 10 and 90 % then scatter
// by 2.4 %.
constexpr size_t kRowsPerBin = 150;
constexpr size_t kMostBins = 8;
// A model that is fitted again has nine tenths of the rows: fewer would make it
// worse than the one that answers, and its errors too large.
constexpr uint64_t kCalibrationFolds = 10;

// An estimate and the residual of its row.
using Point = std::pair<double, double>;

// Equal numbers of rows a bin, by estimated time.
cost::Spread SpreadOf(std::vector<Point> points) {
  std::ranges::sort(points);
  const size_t bins =
      std::clamp<size_t>(points.size() / kRowsPerBin, 1, kMostBins);
  cost::Spread spread;
  for (size_t bin = 0; bin < bins; ++bin) {
    const size_t begin = bin * points.size() / bins;
    const size_t end = (bin + 1) * points.size() / bins;
    std::vector<double> residuals;
    for (size_t i = begin; i < end; ++i) {
      residuals.push_back(points[i].second);
    }
    if (bin > 0) {
      spread.edges_us.push_back(points[begin].first);
    }
    // With n rows, the next one lies below the k-th of them with probability
    // k / (n + 1): a little outside of the plain quantiles.
    const double n = static_cast<double>(residuals.size());
    const double outer = std::min(1.0, (n + 1) / n * 0.9);
    spread.log2_p10.push_back(std::min(Quantile(residuals, 1 - outer), 0.0));
    spread.log2_p90.push_back(std::max(Quantile(residuals, outer), 0.0));
  }
  return spread;
}

// The tenth that a row's shape belongs to: repeats stay together.
uint64_t FoldOf(const TrainingRow& row) {
  // Parts are chosen by the hash itself: draw from it.
  return Rng(ir::HashOf(row.row->shape)).Below(kCalibrationFolds);
}

Status AddHeldOut(const TrainingRows& rows, const FitAgain& fit_again,
                  std::vector<Point>& points) {
  for (uint64_t fold = 0; fold < kCalibrationFolds; ++fold) {
    TrainingRows fewer = rows;
    std::vector<size_t> held_out;
    for (size_t i = 0; i < rows.rows.size(); ++i) {
      if (rows.rows[i].part == Part::kFit && FoldOf(rows.rows[i]) == fold) {
        fewer.rows[i].part = Part::kValidation;
        held_out.push_back(i);
      }
    }
    ASSIGN_OR_RETURN(const std::vector<double> kernel_us, fit_again(fewer));
    for (const size_t i : held_out) {
      if (rows.rows[i].counts) {
        points.emplace_back(kernel_us[i], Residual(rows.rows[i], kernel_us[i]));
      }
    }
  }
  return {};
}

}  // namespace

double Residual(const TrainingRow& row, double kernel_us) {
  const double measured =
      std::max(std::exp(row.log_time) - row.lead_us, 1e-3 * kernel_us);
  return std::log2(measured / kernel_us);
}

Result<cost::Spread> Calibrate(const TrainingRows& rows,
                               std::span<const double> kernel_us,
                               const FitAgain& fit_again) {
  std::vector<Point> points;
  for (size_t i = 0; i < rows.rows.size(); ++i) {
    const TrainingRow& row = rows.rows[i];
    if (row.part == Part::kValidation && row.counts) {
      points.emplace_back(kernel_us[i], Residual(row, kernel_us[i]));
    }
  }
  if (points.size() < kRowsPerBin) {
    RETURN_IF_ERROR(AddHeldOut(rows, fit_again, points));
  }
  return SpreadOf(std::move(points));
}

}  // namespace stepcast::learn
