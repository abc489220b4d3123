// What every execution trace keeps, whatever the bytes it was read from.
#ifndef STEPCAST_TESTS_FUZZ_EXECUTION_TRACE_RULES_H_
#define STEPCAST_TESTS_FUZZ_EXECUTION_TRACE_RULES_H_

#include <cstddef>

#include "base/check.h"
#include "trace/read/execution_trace.h"

namespace stepcast::trace {

inline void CheckExecutionTrace(const ExecutionTrace& trace) {
  CHECK(!trace.nodes.empty());
  CHECK(!trace.info.format.empty());
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    const ExecutionNode& node = trace.nodes[i];
    CHECK(trace.strings.view(node.name).size() < SIZE_MAX);
    CHECK(node.parent == ExecutionNode::kNoParent || node.parent < i);
    CHECK(node.parent == ExecutionNode::kNoParent ||
          trace.nodes[node.parent].kind != NodeKind::kDevice);
    CHECK(!node.duration || *node.duration >= Duration(0));
    CHECK(node.data_dependencies.first + node.data_dependencies.count <=
          trace.dependencies.size());
  }
}

}  // namespace stepcast::trace

#endif  // STEPCAST_TESTS_FUZZ_EXECUTION_TRACE_RULES_H_
