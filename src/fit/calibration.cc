#include "fit/calibration.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/rng.h"
#include "base/stats.h"
#include "ir/shape_set.h"

namespace stepcast::fit {
namespace {

using measurements::Part;

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

}  // namespace stepcast::fit
