#include "fit/uncorrected_model.h"

#include <algorithm>
#include <limits>

#include "fit/calibration.h"

namespace stepcast::fit {
namespace {

using measurements::Part;

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

}  // namespace stepcast::fit
