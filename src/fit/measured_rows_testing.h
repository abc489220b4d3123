// Measured rows made up by our own formulas, for tests.
#ifndef STEPCAST_FIT_MEASURED_ROWS_TESTING_H_
#define STEPCAST_FIT_MEASURED_ROWS_TESTING_H_

#include <string>
#include <vector>

#include "cost/constants.h"
#include "measurements/kernel_rows.h"

namespace stepcast::fit {

/// Softmax kernels of many sizes on each GPU, with the times that the formula
/// gives with these constants.
measurements::KernelRows MadeSoftmaxRows(const std::vector<std::string>& gpus,
                                         const cost::Constants& constants);

}  // namespace stepcast::fit

#endif  // STEPCAST_FIT_MEASURED_ROWS_TESTING_H_
