#include "trace/read/torch_et/node_order.h"

#include <algorithm>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "trace/read/oddities.h"

namespace stepcast::trace {
namespace {

constexpr uint32_t kNoParent = ExecutionNode::kNoParent;

std::string Where(const ParsedNode& parsed, const StringPool& strings) {
  return fmt::format("node {} '{}'", parsed.node.id,
                     strings.view(parsed.node.name));
}

// What decides where a node comes: whether it is a device's, thread, record id,
// place in the file.
using SortKey = std::tuple<bool, int64_t, int64_t, uint32_t>;

// The kept nodes in the order of their start.
std::vector<SortKey> SortedKeys(const std::vector<ParsedNode>& nodes,
                                const NodeIndex& index) {
  std::vector<SortKey> keys;
  keys.reserve(nodes.size());
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    const ExecutionNode& node = nodes[i].node;
    if (index.IsDuplicate(i)) {
      continue;
    }
    if (node.kind == NodeKind::kDevice) {
      keys.emplace_back(true, 0, 0, i);
    } else {
      keys.emplace_back(false, node.thread, node.record_id, i);
    }
  }
  std::ranges::sort(keys);
  return keys;
}

// Whether the node began before what is written as its parent. So do ranges of
// gloo's threads, which the recorder puts under whatever op of the main thread
// is open when they are written.
bool BeganBefore(const ExecutionNode& node, const ExecutionNode& parent) {
  return node.kind == NodeKind::kAnnotation && node.record_id >= 0 &&
         parent.record_id > node.record_id;
}

// The place of each node's parent, or kNoParent.
std::vector<uint32_t> ResolveParents(const std::vector<ParsedNode>& nodes,
                                     const NodeIndex& index,
                                     const StringPool& strings,
                                     Diagnostics& diagnostics) {
  std::vector<uint32_t> parents(nodes.size(), kNoParent);
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    const ParsedNode& parsed = nodes[i];
    if (index.IsDuplicate(i)) {
      diagnostics.Add(kDuplicateId, Where(parsed, strings));
      continue;
    }
    if (!parsed.parent) {
      continue;
    }
    const auto parent = index.Find(*parsed.parent);
    if (parent && BeganBefore(parsed.node, nodes[*parent].node)) {
      continue;
    }
    if (parent && *parent != i &&
        nodes[*parent].node.kind != NodeKind::kDevice) {
      parents[i] = *parent;
    } else if (parsed.node.kind != NodeKind::kRoot) {
      // The process node is its own parent, or its parent is not written.
      diagnostics.Add(kBadParent, Where(parsed, strings));
    }
  }
  return parents;
}

// Walks up from each node in turn to the first ancestor that has its position
// already, then down again. A node met twice on one way up closes a cycle.
class Placer {
 public:
  Placer(std::vector<uint32_t>& parents, size_t count)
      : parents_(parents), position_(count, kUnplaced) {}

  void Place(uint32_t place, std::vector<uint32_t>& order,
             std::vector<uint32_t>& cut) {
    way_.clear();
    while (place != kNoParent && position_[place] == kUnplaced) {
      position_[place] = kOnWay;
      way_.push_back(place);
      place = parents_[place];
    }
    if (place != kNoParent && position_[place] == kOnWay) {
      parents_[way_.back()] = kNoParent;
      cut.push_back(way_.back());
    }
    for (auto it = way_.rbegin(); it != way_.rend(); ++it) {
      position_[*it] = static_cast<uint32_t>(order.size());
      order.push_back(*it);
    }
  }

  uint32_t position(uint32_t place) const { return position_[place]; }

 private:
  static constexpr uint32_t kUnplaced = 0xFFFFFFFF;
  static constexpr uint32_t kOnWay = 0xFFFFFFFE;

  std::vector<uint32_t>& parents_;
  std::vector<uint32_t> position_;
  std::vector<uint32_t> way_;
};

}  // namespace

NodeIndex::NodeIndex(std::span<const ParsedNode> nodes)
    : duplicate_(nodes.size()) {
  by_id_.reserve(nodes.size());
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    by_id_.emplace_back(nodes[i].node.id, i);
  }
  std::ranges::sort(by_id_);
  for (size_t i = 1; i < by_id_.size(); ++i) {
    if (by_id_[i].first == by_id_[i - 1].first) {
      duplicate_[by_id_[i].second] = true;
    }
  }
}

std::optional<uint32_t> NodeIndex::Find(int64_t id) const {
  const auto it = std::ranges::lower_bound(by_id_, std::pair(id, uint32_t{0}));
  if (it == by_id_.end() || it->first != id) {
    return std::nullopt;
  }
  return it->second;
}

void ArrangeNodes(std::vector<ParsedNode> nodes, ExecutionTrace& trace,
                  Diagnostics& diagnostics) {
  const NodeIndex index(nodes);
  std::vector<uint32_t> parents =
      ResolveParents(nodes, index, trace.strings, diagnostics);
  std::vector<uint32_t> order;
  std::vector<uint32_t> cut;
  order.reserve(nodes.size());
  Placer placer(parents, nodes.size());
  for (const SortKey& key : SortedKeys(nodes, index)) {
    placer.Place(std::get<uint32_t>(key), order, cut);
  }
  for (const uint32_t place : cut) {
    diagnostics.Add(kBadParent, Where(nodes[place], trace.strings));
  }
  trace.nodes.reserve(order.size());
  for (const uint32_t place : order) {
    ExecutionNode& node = nodes[place].node;
    if (const uint32_t parent = parents[place]; parent != kNoParent) {
      node.parent = placer.position(parent);
      if (node.kind == NodeKind::kDevice) {
        node.thread = trace.nodes[node.parent].thread;
      }
    }
    trace.nodes.push_back(node);
  }
}

}  // namespace stepcast::trace
