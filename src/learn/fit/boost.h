// Fitting boosted trees to log2(measured kernel / formula) with XGBoost.
#ifndef STEPCAST_LEARN_FIT_BOOST_H_
#define STEPCAST_LEARN_FIT_BOOST_H_

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "cost/forest.h"
#include "learn/fit/training_rows.h"

namespace stepcast::learn {

struct BoostOptions {
  int rounds = 240;
  int depth = 6;
  double rate = 0.12;
  double row_share = 0.8;      // Of the rows, for each tree.
  double feature_share = 0.6;  // Of the features, for each tree.
  // Residuals (natural log) well below this count by their square, well above
  // by their size.
  double robust_from = 0.04;
};

/// Trees that, added to `offset`, take the formula to the rows of the fit part.
/// A censored row pulls only an estimate that is above it. The same bytes every
/// time.
Result<std::vector<cost::Tree>> Boost(const TrainingRows& rows, double offset,
                                      const BoostOptions& options);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_FIT_BOOST_H_
