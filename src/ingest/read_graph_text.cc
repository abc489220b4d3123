#include "ingest/read_graph_text.h"

#include <string>
#include <utility>

#include "ir/graph_text.h"

namespace stepcast::ingest {

bool SniffGraphText(std::string_view head) {
  return head.starts_with("stepcast-graph ");
}

Result<TraceFile> ReadGraphText(ByteSource& source,
                                Diagnostics& /*diagnostics*/) {
  ASSIGN_OR_RETURN(const std::string text, ReadAll(source));
  ASSIGN_OR_RETURN(ir::Graph graph, ir::ParseGraph(text));
  TraceFile file;
  file.graph = std::move(graph);
  return file;
}

}  // namespace stepcast::ingest
