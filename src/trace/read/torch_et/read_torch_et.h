// Reader for PyTorch execution traces, plain or with a profiler's events
// linked in.
#ifndef STEPCAST_TRACE_READ_TORCH_ET_READ_TORCH_ET_H_
#define STEPCAST_TRACE_READ_TORCH_ET_READ_TORCH_ET_H_

#include <string_view>

#include "base/diagnostics.h"
#include "base/files/file.h"
#include "base/result.h"
#include "trace/read/formats.h"

namespace stepcast::trace {

/// Whether `head` begins a JSON object with the keys of an execution trace.
bool SniffTorchEt(std::string_view head);

/// Schemas 1.x, by the fields present. Fails if the text is not JSON, is of
/// another major version or holds no node.
Result<TraceFile> ReadTorchEt(ByteSource& source, Diagnostics& diagnostics);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_READ_TORCH_ET_READ_TORCH_ET_H_
