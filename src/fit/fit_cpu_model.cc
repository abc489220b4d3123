#include "fit/fit_cpu_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/rng.h"
#include "base/stats.h"
#include "fit/boost.h"
#include "fit/calibration.h"
#include "fit/fit_model.h"
#include "fit/uncorrected_model.h"
#include "ir/shape_set.h"

namespace stepcast::fit {
namespace {

using measurements::Part;

// Fewer tell no factor.
constexpr size_t kFewestCpuRows = 10;

constexpr uint64_t kCpuFolds = 5;

// How many trees there may be: few where rows of one shape differ by what the
// shape does not tell.
constexpr std::array<size_t, 5> kTreeCounts = {0, 20, 60, 150, 300};

// Corrections span powers of two, not percents: a loss that flattens early
// would leave the far rows where they are. What it flattens at is a core that
// was disturbed.
BoostOptions OptionsFor(size_t rows, size_t trees) {
  constexpr size_t kFew = 300;
  return {.rounds = static_cast<int>(trees),
          .depth = rows < kFew ? 4 : 6,
          .rate = 0.06,
          .feature_share = 0.8,
          .robust_from = 0.3};
}

std::string NameOf(size_t trees) {
  return trees == 0 ? "scaled" : fmt::format("trees_{}", trees);
}

// Sets offset and trees.
Status Correct(const TrainingRows& rows, size_t trees,
               cost::FittedModel& model) {
  std::vector<double> residuals = FitResiduals(rows);
  const size_t count = residuals.size();
  model.offset = Quantile(std::move(residuals), 0.5);
  model.forest = cost::Forest::Make({}, rows.feature_count);
  if (trees > 0) {
    ASSIGN_OR_RETURN(const std::vector<cost::Tree> made,
                     Boost(rows, model.offset, OptionsFor(count, trees)));
    model.forest = cost::Forest::Make(made, rows.feature_count);
  }
  return {};
}

// The rows with one fold of the fit part held out for validation; nothing else
// validates.
TrainingRows HoldOut(const TrainingRows& rows, uint64_t fold) {
  TrainingRows fewer = rows;
  for (TrainingRow& row : fewer.rows) {
    if (row.part == Part::kValidation) {
      row.part = Part::kTest;
    } else if (row.part == Part::kFit &&
               Rng(ir::HashOf(row.row->shape)).Below(kCpuFolds) == fold) {
      row.part = Part::kValidation;
    }
  }
  return fewer;
}

// How far off a candidate is on rows held out.
struct HeldOutErrors {
  Errors errors;
  double sum_of_logs = 0;

  void Add(const TrainingRows& rows, std::span<const double> kernel_us) {
    for (size_t i = 0; i < rows.rows.size(); ++i) {
      const TrainingRow& row = rows.rows[i];
      if (row.part == Part::kValidation && row.counts) {
        const double observed = ObservedUs(row, kernel_us[i]);
        errors.Add(observed, row.row->time_us);
        sum_of_logs += std::abs(std::log(observed / row.row->time_us));
      }
    }
  }
};

// The number of trees that does best on rows held out: validation rows would
// be too few to tell. Best is the least mean error of logarithms: where the
// shape does not tell operators apart, the geometric mean of errors is small
// for a model that is right about some and anywhere with the others.
Result<size_t> ChooseTrees(const TrainingRows& rows, cost::FittedModel& model) {
  std::array<HeldOutErrors, kTreeCounts.size()> held_out;
  for (uint64_t fold = 0; fold < kCpuFolds; ++fold) {
    const TrainingRows fewer = HoldOut(rows, fold);
    for (size_t i = 0; i < kTreeCounts.size(); ++i) {
      RETURN_IF_ERROR(Correct(fewer, kTreeCounts[i], model));
      held_out[i].Add(fewer, Predict(model, fewer));
    }
  }
  for (size_t i = 0; i < kTreeCounts.size(); ++i) {
    model.candidates.push_back(
        {.name = NameOf(kTreeCounts[i]),
         .gmae_pct = held_out[i].errors.Summary().gmae_pct});
  }
  const auto best =
      std::ranges::min_element(held_out, {}, &HeldOutErrors::sum_of_logs);
  return kTreeCounts[static_cast<size_t>(best - held_out.begin())];
}

}  // namespace

Result<std::optional<cost::FittedModel>> FitCpuModel(const RowGroup& group,
                                                     const TrainingRows& rows) {
  if (FitResiduals(rows).size() < kFewestCpuRows) {
    return std::nullopt;
  }
  cost::FittedModel model = UncorrectedModel(group, rows);
  size_t trees = 0;
  if (FitResiduals(rows).size() >= rows.fewest_for_trees) {
    ASSIGN_OR_RETURN(trees, ChooseTrees(rows, model));
  }
  model.chosen = NameOf(trees);
  RETURN_IF_ERROR(Correct(rows, trees, model));
  ASSIGN_OR_RETURN(
      model.spread,
      Calibrate(rows, Predict(model, rows),
                [&](const TrainingRows& fewer) -> Result<std::vector<double>> {
                  cost::FittedModel again = model;
                  RETURN_IF_ERROR(Correct(fewer, trees, again));
                  return Predict(again, fewer);
                }));
  return model;
}

}  // namespace stepcast::fit
