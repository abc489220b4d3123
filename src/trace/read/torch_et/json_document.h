// What the readers of JSON execution traces share: recognising a document by
// its first keys, and telling what had to be repaired.
#ifndef STEPCAST_TRACE_READ_TORCH_ET_JSON_DOCUMENT_H_
#define STEPCAST_TRACE_READ_TORCH_ET_JSON_DOCUMENT_H_

#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/json/json_read.h"

namespace stepcast::trace {

/// The keys of the top-level object, as far as `head` shows them; none if it
/// does not begin with an object.
std::vector<std::string_view> TopLevelKeys(std::string_view head);

/// Counts what the reader repaired or lost.
void ReportCounts(const JsonRecordReader::Counts& counts,
                  Diagnostics& diagnostics);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_READ_TORCH_ET_JSON_DOCUMENT_H_
