#include "cost/kernels/bandwidth.h"

#include <algorithm>
#include <cmath>

namespace stepcast::cost {

void AddStreamFeatures(double elements, double width, const Machine& machine,
                       const Base& base, FeatureVector& features) {
  features.AddLog(elements / machine.sm_count());
  features.AddLog(elements * width / machine.l2_bytes());
  features.AddLog(base.memory_us / LatencyUs(machine));
  features.AddLog(base.memory_us / std::max(base.compute_us, 1e-6));
  features.Add(width);
}

namespace {

// The clock at which the latency of a kernel is that of its constant. The
// latency is a number of clocks: 2.0 us on A100 (1.41 GHz), 1.7 on A40 (1.74),
// 1.5 on H100 (1.98).
constexpr double kLatencyClockGhz = 1.45;
// AMD's dispatch takes longer, whatever the clock: the smallest kernels of
// MI210 take 3.5 us, MI300X's 4.3 in the median.
constexpr double kCdnaLatencyUs = 4.0;
// What PyTorch takes on a processor to get to an operator's loop: in the median
// over the smallest operators of a Xeon of 2023, 1.2 (empty) to 4 us.
constexpr double kCpuCallUs = 2.0;
// How sharply hits fall off as a footprint outgrows L2. Replacement is not
// strictly by age, so this is gentler than a step; 2 to 3 fit the fp16 adds of
// A40, A100 and H100 alike.
constexpr double kCacheSharpness = 2.5;
// The same where a benchmark sweeps over one footprint again and again. What
// was used longest ago is what comes next, so that a set of 16 ways (Jia et
// al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking",
// 2018) with more lines than ways finds none of them. Hashed addresses fill
// sets by chance: P(Poisson(16 x) < 16) of the lines at x times the size of L2
// are in sets that hold theirs, 0.47 at 1, 0.20 at 1.2, 0.03 at 1.5. A power of
// 8 is near that.
constexpr double kSweepSharpness = 8;
// L2 is faster than DRAM even where a GPU has few SMs for its memory.
constexpr double kLeastL2Gain = 1.1;
// Lanes per SM and clock for anything but plain FP32 arithmetic. The same on
// all generations: the second half of 128-lane SMs adds FP32 units only.
constexpr double kSlowLanes = 64;

double L2Rate(const Machine& machine) {
  const double by_sms = machine[Constant::kL2BytesPerClock] *
                        machine.sm_count() * machine.device.clock_ghz * 1e3;
  return std::max(by_sms, kLeastL2Gain * machine.copy_rate());
}

}  // namespace

double ElementBytes(ir::DType dtype) {
  const int64_t size = ir::SizeOf(dtype);
  return size > 0 ? static_cast<double>(size) : 4.0;
}

double LatencyUs(const Machine& machine) {
  if (IsCdna(machine)) {
    return kCdnaLatencyUs;
  }
  if (machine.device.generation == hw::Generation::kCpu) {
    return kCpuCallUs;
  }
  return machine[Constant::kLatencyUs] * kLatencyClockGhz /
         machine.device.clock_ghz;
}

double LatencyConstant(double latency_us, const Machine& machine) {
  return latency_us * machine.device.clock_ghz / kLatencyClockGhz;
}

double CachedShare(double footprint, const Machine& machine) {
  if (machine.sweeps) {
    return 1.0 /
           (1.0 + std::pow(footprint / machine.l2_bytes(), kSweepSharpness));
  }
  const double filled =
      footprint / (machine[Constant::kL2Share] * machine.l2_bytes());
  return 1.0 / (1.0 + std::pow(filled, kCacheSharpness));
}

double StreamUs(double bytes, double footprint, const Machine& machine) {
  const double cached = CachedShare(footprint, machine);
  return bytes *
         ((1.0 - cached) / machine.copy_rate() + cached / L2Rate(machine));
}

double L2Us(double bytes, const Machine& machine) {
  return bytes / L2Rate(machine);
}

double StreamRooflineUs(double bytes, double footprint,
                        const Machine& machine) {
  return bytes * (1.0 - CachedShare(footprint, machine)) /
         machine.peak_dram_rate();
}

double LaneUs(double elements, double cost, const Machine& machine) {
  return elements * cost /
         (machine.sm_count() * kSlowLanes * machine.device.clock_ghz * 1e3);
}

double Overlap(double a, double b, double power) {
  const double most = std::max(a, b);
  if (most <= 0) {
    return 0;
  }
  const double least = std::min(a, b);
  return most * std::pow(1.0 + std::pow(least / most, power), 1.0 / power);
}

Base StreamBase(const Streams& streams, const Machine& machine) {
  const double footprint =
      streams.footprint > 0 ? streams.footprint : streams.bytes;
  const double memory = StreamUs(streams.bytes, footprint, machine);
  const double latency = streams.latencies * LatencyUs(machine);
  const double work = Overlap(memory, streams.compute_us, streams.power);
  Base base{.time_us = latency + work,
            .compute_us = streams.compute_us,
            .memory_us = memory,
            .roofline_us = StreamRooflineUs(streams.bytes, footprint, machine),
            .bytes = footprint};
  if (latency > work) {
    base.bound = Bound::kLatency;
  } else if (streams.compute_us > memory) {
    base.bound = Bound::kCompute;
  } else {
    base.bound =
        CachedShare(footprint, machine) > 0.5 ? Bound::kL2 : Bound::kDram;
  }
  return base;
}

}  // namespace stepcast::cost
