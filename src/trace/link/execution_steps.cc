#include "trace/link/execution_steps.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "trace/link/find_steps.h"

namespace stepcast::trace {
namespace {

constexpr int64_t kNoEnd = std::numeric_limits<int64_t>::max();

// By node: the record id of itself or, of device work, of the op that launched
// it; -1 if it has none.
std::vector<int64_t> RecordIds(const ExecutionTrace& trace) {
  std::vector<int64_t> ids;
  ids.reserve(trace.nodes.size());
  for (const ExecutionNode& node : trace.nodes) {
    const bool by_parent =
        node.parent != ExecutionNode::kNoParent &&
        (node.kind == NodeKind::kDevice || node.record_id < 0);
    // Parents come before their children.
    ids.push_back(by_parent && ids[node.parent] >= 0 ? ids[node.parent]
                                                     : node.record_id);
  }
  return ids;
}

}  // namespace

std::vector<ExecutionStep> FindExecutionSteps(const ExecutionTrace& trace,
                                              const Rules& rules) {
  std::vector<ExecutionStep> steps;
  for (const ExecutionNode& node : trace.nodes) {
    const std::string_view name = trace.strings.view(node.name);
    if (node.kind == NodeKind::kAnnotation && node.record_id >= 0 &&
        rules.IsStep(name)) {
      steps.push_back({.number = StepNumberIn(name),
                       .begin = node.record_id,
                       .end = kNoEnd});
    }
  }
  std::ranges::sort(steps, {}, &ExecutionStep::begin);
  for (size_t i = 1; i < steps.size(); ++i) {
    steps[i - 1].end = steps[i].begin;
  }
  for (const ExecutionNode& node : trace.nodes) {
    const auto next = std::ranges::upper_bound(steps, node.record_id, {},
                                               &ExecutionStep::begin);
    if (node.kind == NodeKind::kOp && next != steps.begin()) {
      ++std::prev(next)->ops;
    }
  }
  std::erase_if(steps, [](const ExecutionStep& step) { return step.ops == 0; });
  if (steps.size() == 1) {
    steps.front().begin = 0;
    steps.front().end = kNoEnd;
  }
  return steps;
}

std::vector<bool> NodesOf(const ExecutionTrace& trace,
                          const ExecutionStep& step) {
  const bool whole = step.begin == 0 && step.end == kNoEnd;
  const std::vector<int64_t> ids = RecordIds(trace);
  std::vector<bool> inside;
  inside.reserve(ids.size());
  for (const int64_t id : ids) {
    inside.push_back(whole || (id >= step.begin && id < step.end));
  }
  return inside;
}

std::vector<uint32_t> OrderOfStart(const ExecutionTrace& trace) {
  std::vector<int64_t> ids = RecordIds(trace);
  std::vector<uint32_t> order;
  order.reserve(ids.size());
  for (uint32_t i = 0; i < ids.size(); ++i) {
    ids[i] = ids[i] < 0 && i > 0 ? ids[i - 1] : ids[i];
    order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](uint32_t i) { return ids[i]; });
  return order;
}

}  // namespace stepcast::trace
