// The formulas of Lin et al. (2022) for everything but products and lookups, to
// compare ours with.
#ifndef STEPCAST_COST_KERNELS_LIN2022_SMALL_OPS_H_
#define STEPCAST_COST_KERNELS_LIN2022_SMALL_OPS_H_

#include <optional>

#include "cost/machine.h"
#include "ir/shape.h"

namespace stepcast::cost {

/// lin2022-roofline: the longer of arithmetic and traffic, both at measured
/// peaks, without latency; in microseconds, like those below. Nothing for
/// families that their table of small ops does not have.
std::optional<double> Lin2022RooflineUs(const ir::KernelShape& shape,
                                        const Machine& machine);

/// lin2022-concat: a share of DRAM's rate.
double Lin2022ConcatUs(const ir::Concat& concat, const Machine& machine);

/// lin2022-memcpy: bytes over PCIe's rate, whatever the kind of host memory.
/// Copies on the device are small ops of two streams.
double Lin2022MemcpyUs(const ir::Copy& copy, const Machine& machine);

/// The one of these three that answers for a shape.
std::optional<double> Lin2022SmallOpUs(const ir::KernelShape& shape,
                                       const Machine& machine);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_LIN2022_SMALL_OPS_H_
