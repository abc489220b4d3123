// Reader for Chakra execution traces in protobuf (.et).
#ifndef STEPCAST_INGEST_CHAKRA_READ_CHAKRA_H_
#define STEPCAST_INGEST_CHAKRA_READ_CHAKRA_H_

#include <string_view>

#include "base/diagnostics.h"
#include "base/file.h"
#include "base/result.h"
#include "ingest/formats.h"

namespace stepcast::ingest {

/// Whether `head` begins with the length-delimited metadata of a Chakra file,
/// with what looks like a node behind it.
bool SniffChakra(std::string_view head);

/// Fails if the bytes are not length-delimited messages or hold no node.
Result<TraceFile> ReadChakra(ByteSource& source, Diagnostics& diagnostics);

}  // namespace stepcast::ingest

#endif  // STEPCAST_INGEST_CHAKRA_READ_CHAKRA_H_
