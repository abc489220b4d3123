// Reader for the traces of PyTorch's profiler (Kineto, Chrome JSON).
#ifndef STEPCAST_TRACE_READ_KINETO_READ_KINETO_H_
#define STEPCAST_TRACE_READ_KINETO_READ_KINETO_H_

#include <string_view>

#include "base/diagnostics.h"
#include "base/files/file.h"
#include "base/result.h"
#include "trace/read/formats.h"

namespace stepcast::trace {

/// Any JSON object or array; ask after the more particular JSON formats.
bool SniffKineto(std::string_view head);

/// Events of every dialect since 2021, CUDA and HIP. Fails if the text is not
/// JSON or holds no array of events.
Result<TraceFile> ReadKineto(ByteSource& source, Diagnostics& diagnostics);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_READ_KINETO_READ_KINETO_H_
