// Quantities with their unit in the type.
#ifndef STEPCAST_BASE_UNITS_H_
#define STEPCAST_BASE_UNITS_H_

#include <chrono>
#include <cmath>
#include <compare>
#include <cstdint>

namespace stepcast {

/// Time spans and points on a trace's clock, in integer nanoseconds, so that
/// the order of additions never matters.
using Duration = std::chrono::nanoseconds;

struct Bytes {
  int64_t count = 0;
  // clang-tidy 14 takes the 0 in a rewritten `a < b` for a pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(Bytes, Bytes) = default;
};

/// Factors between the units that are computed in and those that are shown.
inline constexpr double kPercent = 100;
inline constexpr double kKilo = 1e3;
inline constexpr double kMega = 1e6;
inline constexpr double kGiga = 1e9;

/// Microseconds as a number, for text and JSON.
constexpr double ToMicroseconds(Duration time) {
  return static_cast<double>(time.count()) / 1e3;
}

/// The nearest whole nanosecond.
inline Duration FromMicroseconds(double us) {
  return Duration(std::llround(us * 1e3));
}

/// Milliseconds as a number, for text and JSON.
constexpr double ToMilliseconds(Duration time) {
  return static_cast<double>(time.count()) / 1e6;
}

}  // namespace stepcast

#endif  // STEPCAST_BASE_UNITS_H_
