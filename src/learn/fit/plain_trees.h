// Boosted trees that know nothing of our formula, for comparison.
#ifndef STEPCAST_LEARN_FIT_PLAIN_TREES_H_
#define STEPCAST_LEARN_FIT_PLAIN_TREES_H_

#include <vector>

#include "base/result.h"
#include "learn/fit/training_rows.h"

namespace stepcast::learn {

/// Kernel times in microseconds for all rows of `training`, in its order, by
/// trees that learned the measured time over the roofline from the fit part.
/// They see a family's features, but for the times that its formula tells.
/// `training` is what MakeTrainingRows made of `input`.
Result<std::vector<double>> PricePlainTrees(const TrainingInput& input,
                                            const TrainingRows& training);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_FIT_PLAIN_TREES_H_
