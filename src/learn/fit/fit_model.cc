#include "learn/fit/fit_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "learn/fit/boost.h"
#include "learn/fit/calibration.h"
#include "learn/fit/fit_constants.h"
#include "learn/fit/leave_out.h"
#include "learn/fit/measured_gpu.h"

namespace stepcast::learn {
namespace {

void SetRanges(const TrainingRows& rows, cost::FittedModel& model) {
  model.low.assign(rows.feature_count, std::numeric_limits<float>::max());
  model.high.assign(rows.feature_count, std::numeric_limits<float>::lowest());
  for (size_t i = 0; i < rows.rows.size(); ++i) {
    if (rows.rows[i].part != Part::kFit) {
      continue;
    }
    const auto features = rows.FeaturesOf(i);
    for (size_t f = 0; f < features.size(); ++f) {
      model.low[f] = std::min(model.low[f], features[f]);
      model.high[f] = std::max(model.high[f], features[f]);
    }
  }
}

}  // namespace

cost::FittedModel UncorrectedModel(const RowGroup& group,
                                   const TrainingRows& rows) {
  cost::FittedModel model;
  model.family = group.family->name;
  model.variant = group.variant;
  model.fade_us = rows.fade_us;
  model.most_log2 = rows.most_log2;
  SetRanges(rows, model);
  return model;
}

std::vector<double> FitResiduals(const TrainingRows& rows) {
  std::vector<double> residuals;
  for (const TrainingRow& row : rows.rows) {
    if (row.part == Part::kFit && row.counts) {
      residuals.push_back(Residual(row, row.base_us));
    }
  }
  return residuals;
}

namespace {

Status CheckChips(const std::vector<MeasuredGpu>& gpus) {
  std::set<std::string> chips;
  for (const MeasuredGpu& gpu : gpus) {
    chips.insert(gpu.device.chip);
  }
  constexpr size_t kFewestToShare = 3;
  if (chips.size() < kFewestToShare) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("what GPUs share cannot be inferred from {} "
                            "chip(s): give rows of at least {}",
                            chips.size(), kFewestToShare));
  }
  return {};
}

std::string By(const std::string& command) {
  return fmt::format("Fitted by: {}", command);
}

}  // namespace

Result<cost::Constants> FitSharedConstants(const KernelRows& rows,
                                           size_t threads) {
  ASSIGN_OR_RETURN(const std::vector<MeasuredGpu> gpus,
                   MeasureGpus(rows, cost::Constants(), threads));
  RETURN_IF_ERROR(CheckChips(gpus));
  std::vector<const MeasuredGpu*> all;
  all.reserve(gpus.size());
  for (const MeasuredGpu& gpu : gpus) {
    all.push_back(&gpu);
  }
  return FitConstants(all, cost::Constants(), threads);
}

Result<cost::FormulaSpreads> FitSharedSpreads(const KernelRows& rows,
                                              size_t threads) {
  ASSIGN_OR_RETURN(const std::vector<MeasuredGpu> gpus,
                   MeasureGpus(rows, cost::Constants(), threads));
  RETURN_IF_ERROR(CheckChips(gpus));
  ASSIGN_OR_RETURN(LeaveOutTable table, LeaveOneOut(rows, threads));
  return std::move(table.spreads);
}

ProfileFile FileOf(const cost::Constants& constants,
                   const std::string& command) {
  return {.path = "constants.toml",
          .text = ConstantsText(constants, By(command))};
}

ProfileFile FileOf(const cost::FormulaSpreads& spreads,
                   const std::string& command) {
  return {.path = "spreads.toml", .text = SpreadsText(spreads, By(command))};
}

namespace {

// Too few rows to tell a good model from a lucky one.
constexpr size_t kFewestModelRows = 30;
constexpr size_t kFewestValidationRows = 5;
// A larger model must be better by this share of the error to be taken.
constexpr double kWorthIt = 0.02;

// Trees as large as the rows can feed.
BoostOptions OptionsFor(size_t rows, cost::Variant variant) {
  BoostOptions options;
  if (rows < 300) {
    options = {.rounds = 60, .depth = 3, .rate = 0.1, .feature_share = 0.8};
  } else if (rows < 3000) {
    options = {.rounds = 200, .depth = 5, .rate = 0.12, .feature_share = 0.8};
  } else if (rows < 8000) {
    options = {.rounds = 240, .depth = 7, .rate = 0.08};
  }
  options.robust_from = variant == cost::Variant::kHalf ? 0.05 : 0.04;
  return options;
}

size_t CountRows(const TrainingRows& rows, Part part) {
  return static_cast<size_t>(std::ranges::count_if(
      rows.rows,
      [&](const TrainingRow& row) { return row.part == part && row.counts; }));
}

// What is corrected: the formula, or the model of another GPU.
struct Start {
  std::string prefix{};  // Of the candidates' names.
  const cost::FittedModel* base = nullptr;
  cost::Forest forest;
  double offset = 0;
};

// How a start is corrected.
struct Recipe {
  const Start* start = nullptr;
  bool scaled = false;
  size_t trees = 0;
};

// Tries a candidate and keeps it if it is worth its size.
class Chooser {
 public:
  Chooser(const TrainingRows& rows, cost::FittedModel& model)
      : rows_(rows), model_(model) {}

  void Try(std::string name, const Recipe& recipe, double offset,
           cost::Forest forest) {
    cost::FittedModel candidate = model_;
    candidate.offset = offset;
    candidate.forest = std::move(forest);
    const double error =
        ErrorsOf(rows_, Predict(candidate, rows_), Part::kValidation).gmae_pct;
    model_.candidates.push_back({.name = name, .gmae_pct = error});
    if (model_.chosen.empty() || error < (1 - kWorthIt) * best_) {
      model_.chosen = std::move(name);
      model_.offset = offset;
      model_.forest = std::move(candidate.forest);
      recipe_ = recipe;
      best_ = error;
    }
  }

  const Recipe& recipe() const { return recipe_; }

 private:
  const TrainingRows& rows_;
  cost::FittedModel& model_;
  Recipe recipe_;
  double best_ = 0;
};

// The rows as if the formula were what the start says.
TrainingRows Moved(const TrainingRows& rows, const Start& start) {
  TrainingRows moved = rows;
  if (start.base == nullptr) {
    return moved;
  }
  const std::vector<double> kernel_us = Predict(*start.base, rows);
  for (size_t i = 0; i < moved.rows.size(); ++i) {
    moved.rows[i].base_us = kernel_us[i];
  }
  return moved;
}

// Candidates on top of a start.
Status TryTrees(const Start& start, const TrainingRows& from,
                cost::Variant variant, Chooser& chooser) {
  const TrainingRows rows = Moved(from, start);
  const double scale = Quantile(FitResiduals(rows), 0.5);
  const double offset = start.offset + scale;
  chooser.Try(start.prefix + "scaled", {.start = &start, .scaled = true},
              offset, start.forest);
  const size_t fit_rows = CountRows(rows, Part::kFit);
  if (fit_rows < rows.fewest_for_trees || rows.feature_count == 0) {
    return {};
  }
  ASSIGN_OR_RETURN(const std::vector<cost::Tree> trees,
                   Boost(rows, scale, OptionsFor(fit_rows, variant)));
  // The first trees of a large fit are a small fit.
  for (const int parts : {4, 2, 1}) {
    const size_t count = trees.size() / static_cast<size_t>(parts);
    cost::Forest forest = start.forest;
    forest.Append(
        cost::Forest::Make(std::span(trees).first(count), rows.feature_count));
    chooser.Try(fmt::format("{}trees_{}", start.prefix, count),
                {.start = &start, .scaled = true, .trees = count}, offset,
                std::move(forest));
  }
  return {};
}

// What a model of the same recipe says of all rows, fitted to the fit part of
// these; `options` are those of all.
Result<std::vector<double>> PredictAgain(const Recipe& recipe,
                                         cost::FittedModel model,
                                         const TrainingRows& rows,
                                         BoostOptions options) {
  model.offset = recipe.start->offset;
  model.forest = recipe.start->forest;
  if (recipe.scaled) {
    const TrainingRows moved = Moved(rows, *recipe.start);
    const double scale = Quantile(FitResiduals(moved), 0.5);
    model.offset += scale;
    if (recipe.trees > 0) {
      options.rounds = static_cast<int>(recipe.trees);
      ASSIGN_OR_RETURN(const std::vector<cost::Tree> trees,
                       Boost(moved, scale, options));
      model.forest.Append(cost::Forest::Make(trees, rows.feature_count));
    }
  }
  return Predict(model, rows);
}

}  // namespace

std::vector<double> Predict(const cost::FittedModel& model,
                            const TrainingRows& rows) {
  std::vector<float> sums(rows.rows.size());
  if (model.forest.tree_count() > 0) {
    model.forest.Evaluate(rows.features, sums);
  }
  std::vector<double> kernel_us(rows.rows.size());
  for (size_t i = 0; i < rows.rows.size(); ++i) {
    const TrainingRow& row = rows.rows[i];
    kernel_us[i] =
        row.base_us * std::exp2(cost::CorrectionOf(
                          model, row.base_us, static_cast<double>(sums[i])));
  }
  return kernel_us;
}

ErrorSummary ErrorsOf(const TrainingRows& rows,
                      std::span<const double> kernel_us, Part part) {
  Errors errors;
  for (size_t i = 0; i < rows.rows.size(); ++i) {
    const TrainingRow& row = rows.rows[i];
    if (row.part == part && row.counts) {
      errors.Add(ObservedUs(row, kernel_us[i]), row.row->time_us);
    }
  }
  return errors.Summary();
}

Result<std::optional<cost::FittedModel>> FitModel(
    const RowGroup& group, const TrainingRows& rows,
    const cost::FittedModel* base) {
  const bool fits =
      base != nullptr && base->forest.feature_count() == rows.feature_count;
  const size_t fit_rows = CountRows(rows, Part::kFit);
  if (fit_rows < kFewestModelRows ||
      CountRows(rows, Part::kValidation) < kFewestValidationRows) {
    return fits ? std::optional(*base) : std::nullopt;
  }
  cost::FittedModel model = UncorrectedModel(group, rows);
  Chooser chooser(rows, model);
  const Start formula{.forest = cost::Forest::Make({}, rows.feature_count)};
  chooser.Try("formula", {.start = &formula}, 0, formula.forest);
  RETURN_IF_ERROR(TryTrees(formula, rows, group.variant, chooser));
  Start other;
  if (fits) {
    other = {.prefix = "base_",
             .base = base,
             .forest = base->forest,
             .offset = base->offset};
    chooser.Try("base", {.start = &other}, other.offset, other.forest);
    RETURN_IF_ERROR(TryTrees(other, rows, group.variant, chooser));
  }
  ASSIGN_OR_RETURN(
      model.spread,
      Calibrate(rows, Predict(model, rows), [&](const TrainingRows& fewer) {
        return PredictAgain(chooser.recipe(), model, fewer,
                            OptionsFor(fit_rows, group.variant));
      }));
  return model;
}

}  // namespace stepcast::learn
