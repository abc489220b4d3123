// How long the smallest kernels of a trace take, as its recorder sees them.
#ifndef STEPCAST_MEASUREMENTS_RECORDER_LATENCY_H_
#define STEPCAST_MEASUREMENTS_RECORDER_LATENCY_H_

#include <span>

#include "measurements/authors_kernels.h"

namespace stepcast::measurements {

/// The median time of single elementwise kernels on a few kilobytes, which take
/// the latency of a kernel as this trace's recorder sees it: 1 us in one trace
/// of the same kernels, 3 us in the others. 0 if there are none.
double SmallestKernelUs(std::span<const TracedKernels> kernels);

}  // namespace stepcast::measurements

#endif  // STEPCAST_MEASUREMENTS_RECORDER_LATENCY_H_
