#include "collect/cuda/fake_device.h"

#include <algorithm>
#include <utility>

#include "collect/cuda/work.h"

namespace stepcast::collect {
namespace {

class FakePrepared : public Prepared {
 public:
  FakePrepared(FakeDevice& device, std::function<double()> call_us,
               bool is_gone)
      : device_(device), call_us_(std::move(call_us)), is_gone_(is_gone) {}

  int64_t calls() const override { return 4; }
  std::string timing() const override { return "graph"; }
  double RunUs(int64_t rounds) override {
    if (is_gone_) {
      return -1;
    }
    const double time_us = call_us_() * static_cast<double>(rounds * calls());
    device_.seconds += time_us / 1e6;
    return time_us;
  }

 private:
  FakeDevice& device_;
  std::function<double()> call_us_;
  bool is_gone_;
};

}  // namespace

FakeDevice::FakeDevice() {
  facts_.title = "Tesla V100-SXM2-16GB";
  facts_.major = 7;
  facts_.sms = 80;
  facts_.memory_bytes = 16e9;
  facts_.l2_bytes = 6e6;
  facts_.clock_mhz = 1530;
  facts_.gpus = 4;
  facts_.dtypes = {"fp32", "fp16"};
}

Clock FakeDevice::clock() {
  return [this] { return seconds; };
}

double FakeDevice::CallUs(const Point& point) const {
  const Work work = WorkOf(point);
  const double flop_us = point.dtype == "fp16" ? 60e6 : 8e6;
  const bool is_host = !point.host_memory.empty();
  const double bytes_us =
      is_host || point.kind == Kind::kCollective ? 12e3 : 750e3;
  const double moved = is_host ? work.moved_bytes / 2 : work.moved_bytes;
  return slowdown * (2 + std::max(work.flop / flop_us, moved / bytes_us));
}

std::unique_ptr<Prepared> FakeDevice::Prepare(const Point& point,
                                              int64_t /*copies*/,
                                              std::string& why) {
  if (before) {
    before(point);
  }
  if (point.op == "unsupported") {
    why = "no such operator";
    return nullptr;
  }
  ++prepared[PointId(point)];
  const bool is_gone = fails_after == 0;
  fails_after -= fails_after > 0 ? 1 : 0;
  // Making memory takes some time, too.
  seconds += 1e-3;
  return std::make_unique<FakePrepared>(
      *this,
      [this, point] {
        return CallUs(point) * (0.99 + 0.02 * random_.Uniform());
      },
      is_gone);
}

}  // namespace stepcast::collect
