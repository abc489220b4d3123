// FLOP and bytes of a point, before it is run: to leave out what is too large.
#ifndef STEPCAST_COLLECT_CUDA_WORK_H_
#define STEPCAST_COLLECT_CUDA_WORK_H_

#include <cstdint>
#include <map>
#include <string>

#include "collect/cuda/point.h"

namespace stepcast::collect {

/// FLOP and bytes moved of one call, and the bytes that must be in memory at
/// once: what is moved, and whole tables. Of a collective: of one rank.
struct Work {
  double flop = 0;
  double moved_bytes = 0;
  double held_bytes = 0;
};
Work WorkOf(const Point& point);

/// How many sets of operands calls cycle through so that together they exceed
/// `rotate_bytes`: in a step, too, a kernel seldom finds its inputs in a cache.
/// One for all but GEMMs, streams and forward bags.
int64_t CopiesOf(const Point& point, double rotate_bytes);

/// Leaves out points that would take too long or not fit. Speeds are learned as
/// points finish; before, only the very large are left out.
class Limits {
 public:
  Limits(double longest_us, double most_bytes)
      : longest_us_(longest_us), most_bytes_(most_bytes) {}

  /// Takes a measured time into account.
  void Learn(const Point& point, double time_us);
  /// Why a point is left out; empty if it is not.
  std::string ReasonToSkip(const Point& point) const;

 private:
  double longest_us_;
  double most_bytes_;
  // The slowest seen of each kind, op and type: FLOP or bytes per microsecond.
  std::map<std::string, double> rates_{};
};

}  // namespace stepcast::collect

#endif  // STEPCAST_COLLECT_CUDA_WORK_H_
