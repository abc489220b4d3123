// Graphs from text that is right, for tests.
#ifndef STEPCAST_IR_GRAPH_TESTING_H_
#define STEPCAST_IR_GRAPH_TESTING_H_

#include <string_view>
#include <utility>

#include "base/check.h"
#include "ir/graph.h"
#include "ir/text/graph_text.h"

namespace stepcast::ir {

inline Graph GraphOf(std::string_view text) {
  auto graph = ParseGraph(text);
  CHECK(graph.has_value()) << graph.error().message;
  return *std::move(graph);
}

}  // namespace stepcast::ir

#endif  // STEPCAST_IR_GRAPH_TESTING_H_
