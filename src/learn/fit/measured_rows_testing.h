// Measured rows made up by our own formulas, for tests.
#ifndef STEPCAST_LEARN_FIT_MEASURED_ROWS_TESTING_H_
#define STEPCAST_LEARN_FIT_MEASURED_ROWS_TESTING_H_

#include <string>
#include <vector>

#include "cost/constants.h"
#include "learn/measured/kernel_rows.h"

namespace stepcast::learn {

/// Softmax kernels of many sizes on each GPU, with the times that the formula
/// gives with these constants.
KernelRows MadeSoftmaxRows(const std::vector<std::string>& gpus,
                           const cost::Constants& constants);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_FIT_MEASURED_ROWS_TESTING_H_
