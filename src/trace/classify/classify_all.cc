#include "trace/classify/classify_all.h"

#include <array>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "base/check.h"
#include "base/text/string_pool.h"
#include "trace/build/find_waits.h"
#include "trace/build/phases.h"
#include "trace/classify/classify.h"

namespace stepcast::trace {
namespace {

// Everything the shape of a device event depends on.
struct ShapeKey {
  uint32_t name = 0;
  uint32_t grid = 0;
  uint32_t block = 0;
  uint32_t collective = 0;
  int64_t bytes = 0;
  int64_t siblings = 0;
  uint32_t kind = 0;
  uint32_t level_count = 0;
  uint32_t partner_name = 0;
  uint32_t partner_arguments = 0;
  std::array<uint32_t, kMostLevels> op_names{};
  std::array<uint32_t, kMostLevels> op_arguments{};
};
static_assert(sizeof(ShapeKey) == 48 + 2 * sizeof(uint32_t) * kMostLevels,
              "no padding to compare");

class Classifier {
 public:
  Classifier(const RankTrace& rank, const Rules& rules)
      : linked_(*rank.profiler),
        rules_(rules),
        arguments_(rank),
        phases_(FindPhases(PhaseInputs(linked_), linked_.trace.strings, rules)),
        partners_(FindPartners(PhaseInputs(linked_), linked_.trace.strings,
                               phases_, rules)) {
    CountSiblings();
  }

  Classification Run() {
    Classification result;
    const auto& events = linked_.trace.device_events;
    result.shape_of.reserve(events.size());
    StringPool seen;  // Keys as bytes; ids count from 1.
    for (uint32_t i = 0; i < events.size(); ++i) {
      FindOps(i);
      const ShapeKey key = MakeKey(events[i]);
      std::array<char, sizeof(ShapeKey)> bytes{};
      std::memcpy(bytes.data(), &key, sizeof(ShapeKey));
      const uint32_t index =
          seen.Intern(std::string_view(bytes.data(), bytes.size())).value - 1;
      if (index == result.shapes.size()) {
        result.shapes.push_back(Classify(events[i]));
      }
      result.shape_of.push_back(index);
    }
    return result;
  }

 private:
  static uint64_t SiblingKey(uint32_t op, StringId name) {
    return (static_cast<uint64_t>(op) << 32) | name.value;
  }

  uint32_t OpOf(uint32_t device_event) const {
    const uint32_t call = linked_.activity_call[device_event];
    return call == kNoEvent ? kNoEvent : linked_.call_op[call];
  }

  void CountSiblings() {
    const auto& events = linked_.trace.device_events;
    for (uint32_t i = 0; i < events.size(); ++i) {
      if (OpOf(i) != kNoEvent) {
        ++siblings_[SiblingKey(OpOf(i), events[i].name)];
      }
    }
  }

  // Fills ops_, partner_ and sibling_count_ for one device event.
  void FindOps(uint32_t device_event) {
    ops_.clear();
    partner_ = kNoEvent;
    sibling_count_ = 1;
    uint32_t op = OpOf(device_event);
    if (op != kNoEvent) {
      sibling_count_ = siblings_.at(
          SiblingKey(op, linked_.trace.device_events[device_event].name));
    }
    for (; op != kNoEvent && ops_.size() < kMostLevels;
         op = linked_.parent[op]) {
      ops_.push_back(op);
      if (partner_ == kNoEvent) {
        partner_ = partners_[op];
      }
    }
  }

  ShapeKey MakeKey(const DeviceEvent& event) {
    ShapeKey key{.name = event.name.value,
                 .grid = event.grid.value,
                 .block = event.block.value,
                 .collective = event.collective.value,
                 .bytes = event.bytes,
                 .siblings = sibling_count_,
                 .kind = static_cast<uint32_t>(event.kind),
                 .level_count = static_cast<uint32_t>(ops_.size())};
    if (partner_ != kNoEvent) {
      key.partner_name = linked_.trace.host_events[partner_].name.value;
      key.partner_arguments = arguments_.KeyOf(partner_);
    }
    for (size_t i = 0; i < ops_.size(); ++i) {
      key.op_names[i] = linked_.trace.host_events[ops_[i]].name.value;
      key.op_arguments[i] = arguments_.KeyOf(ops_[i]);
    }
    return key;
  }

  OpContext ContextOf(uint32_t op) {
    return {
        .name = linked_.trace.strings.view(linked_.trace.host_events[op].name),
        .arguments = arguments_.Find(op)};
  }

  ir::KernelShape Classify(const DeviceEvent& event) {
    const StringPool& strings = linked_.trace.strings;
    std::vector<OpContext> contexts;
    for (const uint32_t op : ops_) {
      contexts.push_back(ContextOf(op));
    }
    DeviceFacts facts{.name = strings.view(event.name),
                      .kind = event.kind,
                      .bytes = event.bytes,
                      .grid = strings.view(event.grid),
                      .block = strings.view(event.block),
                      .collective = strings.view(event.collective),
                      .siblings = sibling_count_,
                      .world_size = linked_.trace.info.world_size.value_or(0)};
    if (partner_ != kNoEvent) {
      facts.partner = ContextOf(partner_);
    }
    return ClassifyDevice(rules_, facts, contexts);
  }

  const LinkedTrace& linked_;
  const Rules& rules_;
  ArgumentTable arguments_;
  std::vector<ir::Phase> phases_;
  std::vector<uint32_t> partners_;
  std::unordered_map<uint64_t, int64_t> siblings_;
  // Of the current device event: ops around its launch, innermost first.
  std::vector<uint32_t> ops_;
  uint32_t partner_ = kNoEvent;
  int64_t sibling_count_ = 1;
};

// Whether the profiler's record says the same about tensors as the execution
// trace, which then is the better source: it also has values and outputs.
bool SameTensors(const Arguments& a, const Arguments& b) {
  size_t other = 0;
  for (const Argument& argument : a.inputs) {
    if (argument.kind != Argument::Kind::kTensor) {
      continue;
    }
    while (other < b.inputs.size() &&
           b.inputs[other].kind != Argument::Kind::kTensor) {
      ++other;
    }
    if (other == b.inputs.size() ||
        b.inputs[other].tensors.front().dims != argument.tensors.front().dims) {
      return false;
    }
    ++other;
  }
  return true;
}

}  // namespace

uint32_t ArgumentTable::KeyOf(uint32_t host_event) {
  const int32_t own = rank_.profiler->trace.host_events[host_event].arguments;
  const uint32_t node =
      rank_.pairing ? rank_.pairing->node_of[host_event] : kNoEvent;
  if (own < 0 && node == kNoEvent) {
    return 0;
  }
  const std::array<uint32_t, 2> key = {static_cast<uint32_t>(own), node};
  std::array<char, sizeof(key)> bytes{};
  std::memcpy(bytes.data(), key.data(), sizeof(key));
  return keys_.Intern(std::string_view(bytes.data(), bytes.size())).value;
}

const Arguments* ArgumentTable::Find(uint32_t host_event) {
  const uint32_t key = KeyOf(host_event);
  if (key == 0) {
    return nullptr;
  }
  if (key >= by_key_.size()) {
    by_key_.resize(key + 1);
  }
  if (by_key_[key] == nullptr) {
    by_key_[key] = std::make_unique<Arguments>(Parse(host_event));
  }
  return by_key_[key].get();
}

Arguments ArgumentTable::Parse(uint32_t host_event) const {
  const ProfilerTrace& trace = rank_.profiler->trace;
  const int32_t own = trace.host_events[host_event].arguments;
  const uint32_t node =
      rank_.pairing ? rank_.pairing->node_of[host_event] : kNoEvent;
  Arguments ours;
  if (own >= 0) {
    ours = ParseArguments(trace.arguments[static_cast<size_t>(own)],
                          trace.strings);
  }
  if (node == kNoEvent) {
    return ours;
  }
  Arguments theirs = ParseArguments(rank_.execution->nodes[node].arguments,
                                    rank_.execution->strings);
  return ours.empty() || SameTensors(ours, theirs) ? theirs : ours;
}

Classification ClassifyAll(const RankTrace& rank, const Rules& rules) {
  CHECK(rank.profiler.has_value());
  return Classifier(rank, rules).Run();
}

}  // namespace stepcast::trace
