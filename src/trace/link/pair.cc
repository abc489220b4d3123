#include "trace/link/pair.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text/text_table.h"
#include "trace/read/arguments.h"
#include "trace/read/oddities.h"

namespace stepcast::trace {
namespace {

// Real traces have two to a dozen threads; more are not worth the search.
constexpr size_t kMostThreads = 64;

// The names on one thread in order, and the node or event after each.
struct Sequence {
  std::vector<uint32_t> names;
  std::vector<uint32_t> items;
};

// By name: whether an event of a thread with ops has it.
std::vector<bool> NamesAmongOps(const ProfilerTrace& trace) {
  std::vector<bool> has_ops(trace.threads.size());
  for (const HostEvent& event : trace.host_events) {
    if (event.kind == HostEventKind::kOp) {
      has_ops[event.thread] = true;
    }
  }
  std::vector<bool> names(trace.strings.size());
  for (const HostEvent& event : trace.host_events) {
    if (has_ops[event.thread]) {
      names[event.name.value] = true;
    }
  }
  return names;
}

// Without ranges that the profiler has on no thread with ops: its own record of
// the process groups is in the execution trace alone, and gloo's ranges are on
// threads of their own, where execution traces have them under the op that
// asked for the collective.
std::map<int64_t, Sequence> ExecutionSequences(const ExecutionTrace& execution,
                                               const ProfilerTrace& trace,
                                               const Rules& rules) {
  const std::vector<bool> among_ops = NamesAmongOps(trace);
  std::map<int64_t, Sequence> sequences;
  for (uint32_t i = 0; i < execution.nodes.size(); ++i) {
    const ExecutionNode& node = execution.nodes[i];
    const std::string_view name = execution.strings.view(node.name);
    if (node.kind == NodeKind::kRoot || node.kind == NodeKind::kDevice ||
        rules.IsStep(name)) {
      continue;
    }
    // A name the profiler never saw gets the invalid id, which equals none.
    const StringId known = trace.strings.Find(name);
    if (node.kind == NodeKind::kAnnotation &&
        (!known.valid() || !among_ops[known.value])) {
      continue;
    }
    Sequence& sequence = sequences[node.thread];
    sequence.names.push_back(known.value);
    sequence.items.push_back(i);
  }
  return sequences;
}

std::vector<Sequence> TraceSequences(const LinkedTrace& linked,
                                     const Rules& rules) {
  const ProfilerTrace& trace = linked.trace;
  std::vector<Sequence> sequences(trace.threads.size());
  for (uint32_t i = 0; i < trace.host_events.size(); ++i) {
    const HostEvent& event = trace.host_events[i];
    if (event.kind == HostEventKind::kAnnotation &&
        rules.IsStep(trace.strings.view(event.name))) {
      continue;
    }
    Sequence& sequence = sequences[event.thread];
    sequence.names.push_back(event.name.value);
    sequence.items.push_back(i);
  }
  return sequences;
}

// Without ops that are alone in an op of the same name, as aten::div_ by a
// tensor in aten::div_ by a number. PyTorch's own list of events leaves most of
// them out (EventList._remove_dup_nodes); execution traces have them all.
Sequence WithoutEchoes(const Sequence& all, const ExecutionTrace& execution) {
  std::vector<uint32_t> children(execution.nodes.size());
  for (const uint32_t item : all.items) {
    const uint32_t parent = execution.nodes[item].parent;
    if (parent < children.size()) {
      ++children[parent];
    }
  }
  Sequence kept;
  for (size_t i = 0; i < all.items.size(); ++i) {
    const uint32_t parent = execution.nodes[all.items[i]].parent;
    const bool echo = parent < children.size() && children[parent] == 1 &&
                      i > 0 && all.items[i - 1] == parent &&
                      all.names[i - 1] == all.names[i];
    if (!echo) {
      kept.names.push_back(all.names[i]);
      kept.items.push_back(all.items[i]);
    }
  }
  return kept;
}

// For each position the length of the longest proper prefix that ends there:
// the failure function of Knuth, Morris and Pratt.
std::vector<uint32_t> Borders(const std::vector<uint32_t>& pattern) {
  std::vector<uint32_t> borders(pattern.size());
  uint32_t length = 0;
  for (size_t i = 1; i < pattern.size(); ++i) {
    while (length > 0 && pattern[i] != pattern[length]) {
      length = borders[length - 1];
    }
    length += pattern[i] == pattern[length] ? 1 : 0;
    borders[i] = length;
  }
  return borders;
}

// Where `pattern` occurs in `text`, occurrences not overlapping.
std::vector<size_t> Occurrences(const std::vector<uint32_t>& pattern,
                                const std::vector<uint32_t>& borders,
                                const std::vector<uint32_t>& text) {
  std::vector<size_t> found;
  uint32_t length = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    while (length > 0 && text[i] != pattern[length]) {
      length = borders[length - 1];
    }
    length += text[i] == pattern[length] ? 1 : 0;
    if (length == pattern.size()) {
      found.push_back(i + 1 - length);
      length = 0;
    }
  }
  return found;
}

// Where a thread of the execution trace was found.
struct Found {
  uint32_t thread = 0;
  std::vector<size_t> places{};  // In that thread's sequence.
};

// The thread in which the pattern occurs most often.
Found Find(const Sequence& pattern, const std::vector<Sequence>& texts) {
  const auto borders = Borders(pattern.names);
  Found best;
  for (uint32_t i = 0; i < texts.size(); ++i) {
    auto places = Occurrences(pattern.names, borders, texts[i].names);
    if (places.size() > best.places.size()) {
      best = {.thread = i, .places = std::move(places)};
    }
  }
  return best;
}

void SetNodes(const Sequence& pattern, const Sequence& text,
              const std::vector<size_t>& places, Pairing& pairing) {
  for (const size_t first : places) {
    for (size_t i = 0; i < pattern.items.size(); ++i) {
      pairing.node_of[text.items[first + i]] = pattern.items[i];
    }
  }
}

// The shapes of tensor arguments only: profilers write lists and scalars in
// different ways.
std::vector<std::vector<int64_t>> TensorDims(const Arguments& arguments) {
  std::vector<std::vector<int64_t>> dims;
  for (const Argument& argument : arguments.inputs) {
    if (argument.kind == Argument::Kind::kTensor) {
      dims.push_back(argument.tensors.front().dims);
    }
  }
  return dims;
}

void CompareShapes(const LinkedTrace& linked, const ExecutionTrace& execution,
                   Pairing& pairing, Diagnostics& diagnostics) {
  const ProfilerTrace& trace = linked.trace;
  for (size_t i = 0; i < pairing.node_of.size(); ++i) {
    const HostEvent& event = trace.host_events[i];
    if (pairing.node_of[i] == kNoEvent || event.arguments < 0) {
      continue;
    }
    const RawArguments& ours =
        trace.arguments[static_cast<size_t>(event.arguments)];
    const ExecutionNode& node = execution.nodes[pairing.node_of[i]];
    // Without types nobody can tell a number from a tensor without dimensions.
    if (ours.dims == StringPool::kEmpty || ours.types == StringPool::kEmpty ||
        node.kind != NodeKind::kOp) {
      continue;
    }
    ++pairing.compared_shapes;
    if (TensorDims(ParseArguments(ours, trace.strings)) !=
        TensorDims(ParseArguments(node.arguments, execution.strings))) {
      ++pairing.different_shapes;
      diagnostics.Add(kPairShapes, Printable(trace.strings.view(event.name)));
    }
  }
}

}  // namespace

Pairing Pair(const LinkedTrace& linked, const ExecutionTrace& execution,
             const Rules& rules, Diagnostics& diagnostics) {
  Pairing pairing;
  pairing.node_of.assign(linked.trace.host_events.size(), kNoEvent);
  const auto patterns = ExecutionSequences(execution, linked.trace, rules);
  const auto texts = TraceSequences(linked, rules);
  for (const auto& [thread, pattern] : patterns) {
    if (pairing.threads.size() == kMostThreads) {
      break;
    }
    Found best = Find(pattern, texts);
    const Sequence plain = WithoutEchoes(pattern, execution);
    Found plain_best = Find(plain, texts);
    if (plain_best.places.size() > best.places.size()) {
      best = std::move(plain_best);
      SetNodes(plain, texts[best.thread], best.places, pairing);
    } else if (!best.places.empty()) {
      SetNodes(pattern, texts[best.thread], best.places, pairing);
    } else {
      diagnostics.Add(kPairMismatch, fmt::format("thread {}", thread));
    }
    pairing.threads.push_back(
        {.execution_thread = thread,
         .trace_thread = best.thread,
         .nodes = static_cast<int64_t>(pattern.items.size()),
         .matches = static_cast<int64_t>(best.places.size())});
  }
  CompareShapes(linked, execution, pairing, diagnostics);
  return pairing;
}

}  // namespace stepcast::trace
