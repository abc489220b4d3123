#include "cost/kernels/stream_features.h"

#include <algorithm>

#include "cost/kernels/bandwidth.h"

namespace stepcast::cost {

void AddStreamFeatures(double elements, double width, const Machine& machine,
                       const Base& base, FeatureVector& features) {
  features.AddLog(elements / machine.sm_count());
  features.AddLog(elements * width / machine.l2_bytes());
  features.AddLog(base.memory_us / LatencyUs(machine));
  features.AddLog(base.memory_us / std::max(base.compute_us, 1e-6));
  features.Add(width);
}

}  // namespace stepcast::cost
