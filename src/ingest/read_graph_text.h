// Reader for graphs in stepcast's own text form.
#ifndef STEPCAST_INGEST_READ_GRAPH_TEXT_H_
#define STEPCAST_INGEST_READ_GRAPH_TEXT_H_

#include <string_view>

#include "base/diagnostics.h"
#include "base/file.h"
#include "base/result.h"
#include "ingest/formats.h"

namespace stepcast::ingest {

/// The first word of the file is the form's name.
bool SniffGraphText(std::string_view head);
Result<TraceFile> ReadGraphText(ByteSource& source, Diagnostics& diagnostics);

}  // namespace stepcast::ingest

#endif  // STEPCAST_INGEST_READ_GRAPH_TEXT_H_
