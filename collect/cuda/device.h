// What the sweep asks of a device; cuda_device.cu answers on a GPU.
#ifndef STEPCAST_COLLECT_CUDA_DEVICE_H_
#define STEPCAST_COLLECT_CUDA_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collect/cuda/point.h"

namespace stepcast::collect {

/// What the driver reports.
struct DeviceFacts {
  std::string title{};  // "Tesla V100-SXM2-16GB"
  int major = 0;        // Compute capability.
  int minor = 0;
  int64_t sms = 0;
  double memory_bytes = 0;
  double l2_bytes = 0;
  double clock_mhz = 0;
  int64_t gpus = 1;                   // That collectives may use.
  std::vector<std::string> dtypes{};  // What it multiplies.
};

/// One point with its memory in place, ready to run.
class Prepared {
 public:
  virtual ~Prepared() = default;

  /// Calls in a round.
  virtual int64_t calls() const = 0;
  /// What a time covers, as the tables say it: graph or loop.
  virtual std::string timing() const = 0;
  /// Microseconds that so many rounds take, all of them; below 0 if the device
  /// failed.
  virtual double RunUs(int64_t rounds) = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceFacts& facts() const = 0;
  /// Makes a point ready, its calls taking turns with `copies` sets of
  /// operands. Null if it cannot be; `why` then says so in one line.
  virtual std::unique_ptr<Prepared> Prepare(const Point& point, int64_t copies,
                                            std::string& why) = 0;
};

/// The ids of a bag's set of operands: the same on every device and in every
/// run.
std::vector<int64_t> IdsOf(const Point& point, int64_t copy);

}  // namespace stepcast::collect

#endif  // STEPCAST_COLLECT_CUDA_DEVICE_H_
