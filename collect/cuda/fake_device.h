// A device for tests: plausible times, a clock that goes by them, and failures
// on demand.
#ifndef STEPCAST_COLLECT_CUDA_FAKE_DEVICE_H_
#define STEPCAST_COLLECT_CUDA_FAKE_DEVICE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "collect/cuda/budget.h"
#include "collect/cuda/device.h"
#include "collect/cuda/random.h"

namespace stepcast::collect {

/// About a V100: half of 15.7 TFLOP/s (eight times that in half precision) and
/// 750 GB/s, 2 us per kernel, 12 GB/s to the host; each time 1 % noise.
class FakeDevice : public Device {
 public:
  FakeDevice();

  const DeviceFacts& facts() const override { return facts_; }
  std::unique_ptr<Prepared> Prepare(const Point& point, int64_t copies,
                                    std::string& why) override;

  /// Goes on with every time that is measured.
  Clock clock();
  /// Microseconds of one call, without noise.
  double CallUs(const Point& point) const;

  /// How often each point was prepared, by id.
  std::map<std::string, int> prepared{};
  /// Called before each preparation, if set: to throw, to be killed.
  std::function<void(const Point&)> before{};
  /// The device is gone once this many points were prepared; below 0: never.
  int64_t fails_after = -1;
  /// All takes so many times as long.
  double slowdown = 1;
  double seconds = 0;

 private:
  DeviceFacts facts_{};
  Random random_{7};
};

}  // namespace stepcast::collect

#endif  // STEPCAST_COLLECT_CUDA_FAKE_DEVICE_H_
