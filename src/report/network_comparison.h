// FP32 matrix products predicted by the papers' network and by plain trees,
// beside our models.
#ifndef STEPCAST_REPORT_NETWORK_COMPARISON_H_
#define STEPCAST_REPORT_NETWORK_COMPARISON_H_

#include <string>

#include "base/result.h"
#include "cost/profile.h"
#include "measurements/kernel_rows.h"

namespace stepcast::report {

/// Trains a network and trees a GPU (most of a minute each) on the fit part and
/// prints the errors on the test part: roofline, formula, network, trees, ours.
Result<std::string> CompareWithNetwork(const measurements::KernelRows& rows,
                                       const cost::ProfileStore& store,
                                       size_t threads);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_NETWORK_COMPARISON_H_
