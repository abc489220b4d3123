// Reader for Chakra execution traces rendered as JSON.
#ifndef STEPCAST_TRACE_READ_CHAKRA_READ_CHAKRA_JSON_H_
#define STEPCAST_TRACE_READ_CHAKRA_READ_CHAKRA_JSON_H_

#include <string_view>

#include "base/diagnostics.h"
#include "base/files/file.h"
#include "base/result.h"
#include "trace/read/formats.h"

namespace stepcast::trace {

/// Whether `head` begins a JSON object with a "workload_graph".
bool SniffChakraJson(std::string_view head);

/// Fails if the text is not JSON or holds no node.
Result<TraceFile> ReadChakraJson(ByteSource& source, Diagnostics& diagnostics);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_READ_CHAKRA_READ_CHAKRA_JSON_H_
