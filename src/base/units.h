// Quantities with their unit in the type.
#ifndef STEPCAST_BASE_UNITS_H_
#define STEPCAST_BASE_UNITS_H_

#include <chrono>
#include <compare>
#include <cstdint>

namespace stepcast {

/// Time spans and points on a trace's clock, in whole nanoseconds, so that the
/// order of additions never matters.
using Duration = std::chrono::nanoseconds;

struct Bytes {
  int64_t count = 0;
  friend auto operator<=>(Bytes, Bytes) = default;
};

/// Microseconds as a number, for text and JSON.
constexpr double ToMicroseconds(Duration time) {
  return static_cast<double>(time.count()) / 1e3;
}

/// Milliseconds as a number, for text and JSON.
constexpr double ToMilliseconds(Duration time) {
  return static_cast<double>(time.count()) / 1e6;
}

}  // namespace stepcast

#endif  // STEPCAST_BASE_UNITS_H_
