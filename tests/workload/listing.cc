#include "tests/workload/listing.h"

#include <algorithm>
#include <map>

namespace stepcast::model {
namespace {

// The outermost operator around `op`, or an invalid id.
ir::OpId TopOf(const ir::GraphData& data, ir::OpId op) {
  ir::OpId top{};
  for (; op.valid(); op = data.ops[op].parent) {
    if (data.ops[op].kind == ir::OpKind::kOp) {
      top = op;
    }
  }
  return top;
}

}  // namespace

std::vector<ListedOp> ListOps(const ir::Graph& graph) {
  const ir::GraphData& data = graph.data();
  std::map<ir::OpId, size_t> places;
  std::vector<ListedOp> ops;
  for (const ir::OpId id : data.ops.ids()) {
    if (TopOf(data, id) == id) {
      places[id] = ops.size();
      ops.push_back({.name = std::string(graph.text(data.ops[id].name)),
                     .thread = data.threads[data.ops[id].thread].role,
                     .phase = data.ops[id].phase});
    }
  }
  for (const ir::Call& call : data.calls) {
    const ir::OpId top = TopOf(data, call.op);
    if (top.valid() && call.kind == ir::CallKind::kLaunch) {
      ++ops[places[top]].launches;
    }
  }
  // Works by their launch, since streams do not keep the order of a thread.
  std::multimap<ir::CallId, ir::ActivityId> activities;
  for (const ir::ActivityId id : data.activities.ids()) {
    if (data.activities[id].call.valid() &&
        data.activities[id].kind != ir::ActivityKind::kMemset) {
      activities.emplace(data.activities[id].call, id);
    }
  }
  for (const auto& [call, activity] : activities) {
    const ir::OpId top = TopOf(data, data.calls[call].op);
    if (top.valid()) {
      ops[places[top]].activities.push_back(graph.shape(activity));
    }
  }
  return ops;
}

std::vector<ListedOp> InOrder(std::span<const ListedOp> ops) {
  std::vector<ListedOp> ordered;
  const auto add = [&](const std::function<bool(const ListedOp&)>& wanted) {
    std::ranges::copy_if(ops, std::back_inserter(ordered), wanted);
  };
  const auto is_update = [](const ListedOp& op) {
    return op.phase == ir::Phase::kOptimizer;
  };
  add([&](const ListedOp& op) {
    return op.thread == ir::ThreadRole::kMain && !is_update(op);
  });
  add([](const ListedOp& op) {
    return op.thread == ir::ThreadRole::kAutograd;
  });
  add([&](const ListedOp& op) {
    return op.thread == ir::ThreadRole::kMain && is_update(op);
  });
  return ordered;
}

std::string Difference(std::span<const std::string> expected,
                       std::span<const std::string> actual) {
  // Lengths of the longest common ends.
  const size_t width = actual.size() + 1;
  std::vector<size_t> common((expected.size() + 1) * width, 0);
  for (size_t i = expected.size(); i-- > 0;) {
    for (size_t j = actual.size(); j-- > 0;) {
      common[i * width + j] = expected[i] == actual[j]
                                  ? common[(i + 1) * width + j + 1] + 1
                                  : std::max(common[(i + 1) * width + j],
                                             common[i * width + j + 1]);
    }
  }
  std::string text;
  size_t i = 0;
  size_t j = 0;
  while (i < expected.size() || j < actual.size()) {
    if (i < expected.size() && j < actual.size() && expected[i] == actual[j]) {
      ++i;
      ++j;
    } else if (j == actual.size() ||
               (i < expected.size() &&
                common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      text += "-" + std::to_string(i + 1) + " " + expected[i] + "\n";
      ++i;
    } else {
      text += "+" + std::to_string(j + 1) + " " + actual[j] + "\n";
      ++j;
    }
  }
  return text;
}

}  // namespace stepcast::model
