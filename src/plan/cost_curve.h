// A time that rises with bytes, asked for often: a table of it.
#ifndef STEPCAST_PLAN_COST_CURVE_H_
#define STEPCAST_PLAN_COST_CURVE_H_

#include <functional>
#include <vector>

namespace stepcast::plan {

/// Microseconds over bytes, at eight points an octave and straight between.
class CostCurve {
 public:
  CostCurve() = default;
  /// `us` from 1 byte to `most` bytes; no bytes take no time. Beyond `most`
  /// the last slope goes on.
  CostCurve(double most, const std::function<double(double)>& us);

  double Us(double bytes) const;

 private:
  std::vector<double> bytes_;
  std::vector<double> us_;
};

}  // namespace stepcast::plan

#endif  // STEPCAST_PLAN_COST_CURVE_H_
