// How messages name a part of a graph: its kind, its index and its name.
#ifndef STEPCAST_IR_DESCRIBE_H_
#define STEPCAST_IR_DESCRIBE_H_

#include <string>
#include <string_view>

#include "ir/graph.h"

namespace stepcast::ir {

/// Any text of a file as messages show it: printable and not too long.
std::string ShownText(std::string_view text);

/// "op 12 'aten::addmm'". `data` need not be valid; ids may be out of range.
std::string Describe(const GraphData& data, RankId id);
std::string Describe(const GraphData& data, ThreadId id);
std::string Describe(const GraphData& data, StreamId id);
std::string Describe(const GraphData& data, OpId id);
std::string Describe(const GraphData& data, CallId id);
std::string Describe(const GraphData& data, WorkId id);
std::string Describe(const GraphData& data, CollectiveId id);

}  // namespace stepcast::ir

#endif  // STEPCAST_IR_DESCRIBE_H_
