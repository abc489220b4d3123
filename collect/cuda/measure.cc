#include "collect/cuda/measure.h"

#include <algorithm>
#include <cstdint>

namespace stepcast::collect {
namespace {

// A sample lasts this long at the least: events of CUDA tell time in steps of
// 0.5 us (cudaEventElapsedTime), which is then 0.2 %.
constexpr double kSampleUs = 250;
constexpr double kMostCalls = 2000;
// Samples that are taken even if the time is over.
constexpr size_t kFewest = 3;

}  // namespace

std::optional<Summary> Measure(Prepared& prepared, double seconds,
                               const Clock& clock, Sampler sampler) {
  const auto calls = static_cast<double>(prepared.calls());
  // Twice: the first call may choose an algorithm or touch new memory.
  if (prepared.RunUs(1) < 0) {
    return std::nullopt;
  }
  const double once = prepared.RunUs(1);
  if (once < 0) {
    return std::nullopt;
  }
  const auto rounds = static_cast<int64_t>(std::max(
      1.0, std::min(kMostCalls / calls, kSampleUs / std::max(once, 0.1) + 1)));
  const double until = clock() + seconds;
  while (!sampler.IsDone()) {
    const double time_us = prepared.RunUs(rounds);
    if (!(time_us > 0)) {
      return std::nullopt;
    }
    sampler.Add(time_us / static_cast<double>(rounds) / calls);
    if (sampler.count() >= kFewest && clock() > until) {
      break;
    }
  }
  return sampler.Summarize();
}

}  // namespace stepcast::collect
