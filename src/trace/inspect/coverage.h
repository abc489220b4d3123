// How much of the device time is understood: by family, with and without sizes.
#ifndef STEPCAST_TRACE_INSPECT_COVERAGE_H_
#define STEPCAST_TRACE_INSPECT_COVERAGE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "ir/shape.h"

namespace stepcast::trace {

/// One device work: what it is called, what it was taken for, how long it ran.
struct TimedShape {
  std::string_view name;
  const ir::KernelShape* shape = nullptr;
  Duration time{};
};

/// The activities of one family.
struct FamilyTime {
  std::string family{};
  int64_t count = 0;
  Duration time{};
  Duration sized{};  // Of the time: activities with all sizes known.
};

/// A kernel name that no rule knows.
struct UnknownKernel {
  std::string name{};
  int64_t count = 0;
  Duration time{};
};

/// Times are sums over activities; activities that run at the same time count
/// twice.
struct Coverage {
  int64_t activities = 0;
  Duration time{};
  Duration classified{};                 // Of the time: not opaque.
  Duration sized{};                      // Of the time: every size is known.
  std::vector<FamilyTime> families{};    // Longest time first.
  std::vector<UnknownKernel> unknown{};  // Longest time first.

  /// Of the time, between 0 and 1; where no work has a time, of the activities;
  /// 1 if there are none.
  double classified_share() const;
  double sized_share() const;

  /// Activities classified and sized, whatever their time.
  int64_t classified_activities = 0;
  int64_t sized_activities = 0;
};

Coverage FindCoverage(std::span<const TimedShape> activities);

/// The two taken together.
Coverage Merged(const Coverage& a, const Coverage& b);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_INSPECT_COVERAGE_H_
