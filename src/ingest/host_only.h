// Execution traces of a processor that runs the operators itself: what PyTorch
// records where no tensor is on a device.
#ifndef STEPCAST_INGEST_HOST_ONLY_H_
#define STEPCAST_INGEST_HOST_ONLY_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "ingest/arguments.h"
#include "ingest/execution_trace.h"
#include "ir/shape.h"

namespace stepcast::ingest {

/// Whether tensors are on the host and nowhere else.
bool IsHostOnly(const ExecutionTrace& trace);

/// Of the ops that do work themselves, leaves those with none of them around:
/// a processor's operators are timed with all that they call.
///
///   aten::addmm    stays
///     aten::copy_  of the bias, is part of it
void KeepOutermost(const ExecutionTrace& trace, std::vector<bool>& launches);

/// The arguments as they would be on a device: the processor stands for one.
Arguments OnDevice(Arguments arguments);

/// What add_ of a sparse gradient does to a table: told by the values that it
/// takes from the gradient. Nothing for any other op.
std::optional<ir::Index> SparseUpdate(const ExecutionTrace& trace,
                                      uint32_t node);

}  // namespace stepcast::ingest

#endif  // STEPCAST_INGEST_HOST_ONLY_H_
