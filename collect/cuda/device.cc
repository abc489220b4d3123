#include "collect/cuda/device.h"

#include "collect/cuda/ids.h"
#include "collect/cuda/random.h"

namespace stepcast::collect {

std::vector<int64_t> IdsOf(const Point& point, int64_t copy) {
  return MakeIds(point.rows, point.batch * point.lookups, point.alpha,
                 Hash(PointId(point)) + static_cast<uint64_t>(copy));
}

}  // namespace stepcast::collect
