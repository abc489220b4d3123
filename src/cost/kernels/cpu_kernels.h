// The formulas of a server's processors: what each kind of operator asks of
// cores and memory.
#ifndef STEPCAST_COST_KERNELS_CPU_KERNELS_H_
#define STEPCAST_COST_KERNELS_CPU_KERNELS_H_

#include <optional>

#include "cost/kernels/cpu_load.h"
#include "ir/shape.h"

namespace stepcast::cost {

/// The load of a sized shape; nothing for families that recommendation models
/// do not have, whose formulas are those of GPUs.
std::optional<CpuLoad> CpuLoadOf(const ir::KernelShape& shape,
                                 const Machine& machine);

/// The price of a family's shape on the machine, by the formula that fits it.
Base BaseOn(const Family& family, const ir::KernelShape& shape,
            const Machine& machine);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_CPU_KERNELS_H_
