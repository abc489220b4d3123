// The kernels of the authors' traces with shapes, which most rows do not have:
// the layers of the model tell them.
#ifndef STEPCAST_MEASUREMENTS_AUTHORS_KERNELS_H_
#define STEPCAST_MEASUREMENTS_AUTHORS_KERNELS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/shape.h"
#include "measurements/authors_trace.h"

namespace stepcast::measurements {

/// Kernels of one op that were timed together.
struct TracedKernels {
  int64_t iteration = 0;
  std::string op;
  std::vector<ir::KernelShape> shapes;
  double time_us = 0;  // Sum over them.
};

/// The kernels of a trace in order. An op that DLRM does not have is an error,
/// as is one layer too many.
Result<std::vector<TracedKernels>> KernelsOf(std::span<const AuthorsRow> rows,
                                             const AuthorsModel& model);

}  // namespace stepcast::measurements

#endif  // STEPCAST_MEASUREMENTS_AUTHORS_KERNELS_H_
