// What the writer and the parser of the graph's text form must agree on.
#ifndef STEPCAST_IR_GRAPH_TEXT_FORM_H_
#define STEPCAST_IR_GRAPH_TEXT_FORM_H_

#include <cstddef>
#include <string_view>

#include "ir/graph.h"

namespace stepcast::ir {

inline constexpr std::string_view kGraphTextHeader = "stepcast-graph 1";

/// Levels that are shown by indentation; deeper ones are given as a number.
inline constexpr size_t kMaxIndentedDepth = 32;

/// Ranks are at depth 0, threads at 1, the ops and calls of a thread from here.
inline constexpr size_t kOpDepth = 2;

/// The kind of work that a shape is when the text does not say.
inline WorkKind UsualKind(const KernelShape& shape) {
  if (std::holds_alternative<Copy>(shape)) {
    return WorkKind::kMemcpy;
  }
  if (std::holds_alternative<Collective>(shape)) {
    return WorkKind::kCollective;
  }
  return WorkKind::kKernel;
}

}  // namespace stepcast::ir

#endif  // STEPCAST_IR_GRAPH_TEXT_FORM_H_
