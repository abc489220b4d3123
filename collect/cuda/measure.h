// From a point that is ready to its time.
#ifndef STEPCAST_COLLECT_CUDA_MEASURE_H_
#define STEPCAST_COLLECT_CUDA_MEASURE_H_

#include <optional>

#include "collect/cuda/budget.h"
#include "collect/cuda/device.h"
#include "collect/cuda/statistics.h"

namespace stepcast::collect {

/// Warms up, then samples until the median stands still or `seconds` are over.
/// Times are of one call. Nothing if the device failed.
std::optional<Summary> Measure(Prepared& prepared, double seconds,
                               const Clock& clock, Sampler sampler = Sampler());

}  // namespace stepcast::collect

#endif  // STEPCAST_COLLECT_CUDA_MEASURE_H_
