// Execution traces read from text in memory, for tests.
#ifndef STEPCAST_TRACE_READ_EXECUTION_TRACE_TESTING_H_
#define STEPCAST_TRACE_READ_EXECUTION_TRACE_TESTING_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/diagnostics.h"
#include "base/files/file.h"
#include "base/text/string_pool.h"
#include "trace/read/execution_trace.h"
#include "trace/read/formats.h"

namespace stepcast::trace {

/// What came of reading some bytes.
struct ExecutionRead {
  ExecutionTrace trace{};
  Diagnostics diagnostics{};
  std::string error{};

  std::string_view text(StringId id) const { return trace.strings.view(id); }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const ExecutionNode& node : trace.nodes) {
      names.emplace_back(text(node.name));
    }
    return names;
  }
  std::vector<int64_t> ids() const {
    std::vector<int64_t> ids;
    for (const ExecutionNode& node : trace.nodes) {
      ids.push_back(node.id);
    }
    return ids;
  }
  /// The id of each node's parent, 0 at the top.
  std::vector<int64_t> parents() const {
    std::vector<int64_t> ids;
    for (const ExecutionNode& node : trace.nodes) {
      ids.push_back(node.parent == ExecutionNode::kNoParent
                        ? 0
                        : trace.nodes[node.parent].id);
    }
    return ids;
  }
  const ExecutionNode& node(std::string_view name) const {
    for (const ExecutionNode& node : trace.nodes) {
      if (text(node.name) == name) {
        return node;
      }
    }
    ADD_FAILURE() << "no node " << name;
    return trace.nodes.front();
  }
};

/// With the reader of one format.
inline ExecutionRead ReadExecution(decltype(TraceFormat::read) reader,
                                   std::string_view bytes) {
  ExecutionRead out;
  const auto source = OpenMemory(bytes);
  auto file = reader(*source, out.diagnostics);
  if (file) {
    out.trace = *std::move(file->execution);
  } else {
    out.error = file.error().message;
  }
  return out;
}

/// The trace of PyTorch that has these nodes, JSON objects with commas between.
inline ExecutionTrace TraceOfNodes(std::string_view nodes,
                                   std::string_view schema = "1.0.1") {
  Diagnostics diagnostics;
  auto file =
      ReadTrace(fmt::format(R"({{"schema": "{}", "pid": 1, "nodes": [{}]}})",
                            schema, nodes),
                "et.json", diagnostics);
  EXPECT_TRUE(file) << file.error().message;
  return *std::move(file->execution);
}

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_READ_EXECUTION_TRACE_TESTING_H_
