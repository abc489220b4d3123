// How long streams of bytes take: bandwidth as a function of their size.
//
//   time
//    |                     /   large: bytes / what DRAM sustains
//    |                  . /
//    |            . '        small: caught by L2, bytes / what SMs take from it
//    |_ _ . '                tiny: the latency of a kernel
//    +------------------------ bytes
#ifndef STEPCAST_COST_KERNELS_BANDWIDTH_H_
#define STEPCAST_COST_KERNELS_BANDWIDTH_H_

#include <cmath>

#include "cost/kernels/family.h"
#include "cost/machine.h"
#include "ir/dtype.h"

namespace stepcast::cost {

// What learned corrections of kernels that move bytes look at.

/// The size of a kernel against its SMs, L2 and latency: five numbers.
void AddStreamFeatures(double elements, double width, const Machine& machine,
                       const Base& base, FeatureVector& features);

/// DRAM and L2 move sectors of this many bytes.
inline constexpr double kSectorBytes = 32;

/// Bytes of an element; 4 if the type is not known.
double ElementBytes(ir::DType dtype);

/// Up to whole units: sectors, tiles.
inline double RoundUp(double value, double unit) {
  return std::ceil(value / unit) * unit;
}

/// What a kernel takes that does next to nothing, start to end: so many clocks.
double LatencyUs(const Machine& machine);

/// The constant that makes LatencyUs so long on this GPU.
double LatencyConstant(double latency_us, const Machine& machine);

/// Which share of accesses to `footprint` bytes finds them in L2, if they were
/// touched just before. Falls smoothly from 1 to 0 around the size of L2.
double CachedShare(double footprint, const Machine& machine);

/// Moving `bytes` to and from a footprint of that size or another one, on all
/// SMs, without the latency. Grows with both.
double StreamUs(double bytes, double footprint, const Machine& machine);
inline double StreamUs(double bytes, const Machine& machine) {
  return StreamUs(bytes, bytes, machine);
}

/// Moving `bytes` between the SMs and L2, whether or not it holds them.
double L2Us(double bytes, const Machine& machine);

/// The least time for a stream at datasheet bandwidth, L2 being free.
double StreamRooflineUs(double bytes, double footprint, const Machine& machine);

/// Lanes of an SM that work on special functions, conversions and addresses
/// together: `elements` times `cost` lane clocks.
double LaneUs(double elements, double cost, const Machine& machine);

/// Two kinds of work under one another: at least the longer, at most the sum.
/// The higher the power, the better they overlap.
double Overlap(double a, double b, double power);

/// What a kernel is made of, before it is put together.
struct Streams {
  double bytes = 0;
  double footprint = 0;   // 0: as many bytes.
  double compute_us = 0;  // At the sustained rate.
  double latencies = 1;   // In units of LatencyUs: launches, dependent steps.
  double power = 4;       // Of Overlap.
};

/// The estimate for a kernel of streams and some arithmetic.
Base StreamBase(const Streams& streams, const Machine& machine);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_BANDWIDTH_H_
