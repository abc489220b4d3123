// FP32 matrix products predicted by the papers' network and by plain trees,
// beside our models.
#ifndef STEPCAST_LEARN_JUDGE_NETWORK_COMPARISON_H_
#define STEPCAST_LEARN_JUDGE_NETWORK_COMPARISON_H_

#include <cstddef>

#include "base/result.h"
#include "cost/profile.h"
#include "learn/measured/kernel_rows.h"
#include "view/doc.h"

namespace stepcast::learn {

/// Trains a network and trees a GPU (most of a minute each) on the fit part and
/// has the errors on the test part: roofline, formula, network, trees, ours.
Result<view::Doc> NetworkComparisonDoc(const KernelRows& rows,
                                       const cost::ProfileStore& store,
                                       size_t threads);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_JUDGE_NETWORK_COMPARISON_H_
