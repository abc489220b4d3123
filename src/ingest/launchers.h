// Which ops of an execution trace launch device work themselves.
#ifndef STEPCAST_INGEST_LAUNCHERS_H_
#define STEPCAST_INGEST_LAUNCHERS_H_

#include <vector>

#include "ingest/execution_trace.h"
#include "ingest/rules.h"

namespace stepcast::ingest {

/// Of every node: whether it is an op that does work which none of the ops
/// inside it does. An execution trace has no kernels, so the family of the op
/// tells: it works itself unless an op of the same family lies inside.
///
///   aten::linear           no: addmm below multiplies
///     aten::addmm          yes
///   aten::cudnn_batch_norm yes
///     aten::empty          no: launches nothing
///
/// Whether its tensors are on a device is for the caller to see.
std::vector<bool> FindLaunchers(const ExecutionTrace& trace,
                                const Rules& rules);

}  // namespace stepcast::ingest

#endif  // STEPCAST_INGEST_LAUNCHERS_H_
