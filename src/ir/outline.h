// The nested order in which the text form shows one thread's ops and calls.
#ifndef STEPCAST_IR_OUTLINE_H_
#define STEPCAST_IR_OUTLINE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace stepcast::ir {

// How messages name a part of a graph: its kind, its index and its name.

/// Any text of a file as messages show it: printable and not too long.
std::string ShownText(std::string_view text);

/// "op 12 'aten::addmm'". `data` need not be valid; ids may be out of range.
std::string Describe(const GraphData& data, RankId id);
std::string Describe(const GraphData& data, ThreadId id);
std::string Describe(const GraphData& data, StreamId id);
std::string Describe(const GraphData& data, OpId id);
std::string Describe(const GraphData& data, CallId id);
std::string Describe(const GraphData& data, ActivityId id);
std::string Describe(const GraphData& data, CollectiveId id);

/// One line of the outline: an op or a call, and how many ops are around it.
struct OutlineItem {
  OpId op{};
  CallId call{};  // Exactly one of the two is valid.
  uint32_t depth = 0;
  /// A call that could not be put below its own op, or below none, without
  /// losing its place among the calls; it is where its turn is.
  bool misplaced = false;
};

/// All of `ops` and `calls` (those of one thread), each in the order given. Ops
/// are below their parents and calls below their ops, between the ops that
/// started before and after them as far as times are known. A trace can have
/// calls for which this is impossible, such as one of an op that had ended.
std::vector<OutlineItem> Outline(const GraphData& data, IdRange<OpId> ops,
                                 IdRange<CallId> calls);

}  // namespace stepcast::ir

#endif  // STEPCAST_IR_OUTLINE_H_
