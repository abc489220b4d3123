// The text form of a graph: for tests, bug reports and files people edit.
#ifndef STEPCAST_IR_TEXT_GRAPH_TEXT_H_
#define STEPCAST_IR_TEXT_GRAPH_TEXT_H_

#include <string>
#include <string_view>

#include "base/result.h"
#include "ir/graph.h"

namespace stepcast::ir {

/// The whole graph; ParseGraph gives back the same content.
std::string GraphText(const Graph& graph);

/// Errors name the line: "line 7: unknown word 'opp'; expected ...".
Result<Graph> ParseGraph(std::string_view text);

}  // namespace stepcast::ir

#endif  // STEPCAST_IR_TEXT_GRAPH_TEXT_H_
