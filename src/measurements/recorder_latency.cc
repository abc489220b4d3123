#include "measurements/recorder_latency.h"

#include <algorithm>
#include <vector>

namespace stepcast::measurements {

double SmallestKernelUs(std::span<const TracedKernels> kernels) {
  constexpr int64_t kFewElements = 1024;
  std::vector<double> times;
  for (const TracedKernels& traced : kernels) {
    const auto* const op =
        traced.shapes.size() == 1
            ? std::get_if<ir::Elementwise>(&traced.shapes.front())
            : nullptr;
    if (op != nullptr && op->elements <= kFewElements) {
      times.push_back(traced.time_us);
    }
  }
  if (times.empty()) {
    return 0;
  }
  const auto middle = times.begin() + std::ssize(times) / 2;
  std::ranges::nth_element(times, middle);
  return *middle;
}

}  // namespace stepcast::measurements
