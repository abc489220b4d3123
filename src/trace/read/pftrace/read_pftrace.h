// Reader for the Perfetto traces that PyTorch's profiler writes (.pftrace).
#ifndef STEPCAST_TRACE_READ_PFTRACE_READ_PFTRACE_H_
#define STEPCAST_TRACE_READ_PFTRACE_READ_PFTRACE_H_

#include <string_view>

#include "base/diagnostics.h"
#include "base/files/file.h"
#include "base/result.h"
#include "trace/read/formats.h"

namespace stepcast::trace {

/// Whether `head` begins with a packet about clocks, as PyTorch's files do.
bool SniffPftrace(std::string_view head);

/// Turns the packets into the events that PyTorch writes as JSON from the same
/// recording, and reads those. Fails if there are none.
Result<TraceFile> ReadPftrace(ByteSource& source, Diagnostics& diagnostics);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_READ_PFTRACE_READ_PFTRACE_H_
