// The laws that every kernel of streams obeys, for tests.
#ifndef STEPCAST_COST_KERNELS_MEMORY_LAWS_TESTING_H_
#define STEPCAST_COST_KERNELS_MEMORY_LAWS_TESTING_H_

#include <cstdint>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "cost/kernels/family.h"
#include "hw/device.h"

namespace stepcast::cost {

/// The V100 of the seed papers' traces, its clock locked.
inline Machine AuthorsV100() {
  return Machine{.device = hw::FindDevice("v100-sxm-16gb@1297MHz").value()};
}

/// On every GPU: larger shapes take longer, none is faster than the roofline,
/// and an eighth more never costs half as much again.
inline void ExpectLawsOfSize(
    const std::function<ir::KernelShape(int64_t size)>& shape_of) {
  const auto names = hw::GpuNames();
  for (const std::string& gpu : names) {
    const Machine machine{.device = hw::FindDevice(gpu).value()};
    double last = 0;
    for (int64_t size = 64; size < (1LL << 32); size += size / 8) {
      const ir::KernelShape shape = shape_of(size);
      const Family* family = FindFamily(shape);
      ASSERT_NE(family, nullptr);
      const Base base = family->base(shape, machine);
      EXPECT_GE(base.time_us, last) << gpu << " " << size;
      EXPECT_GE(base.time_us, base.roofline_us) << gpu << " " << size;
      if (last > 0) {
        EXPECT_LT(base.time_us, 1.5 * last) << gpu << " " << size;
      }
      last = base.time_us;
    }
  }
}

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_MEMORY_LAWS_TESTING_H_
