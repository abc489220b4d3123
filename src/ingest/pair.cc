#include "ingest/pair.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text_table.h"
#include "ingest/arguments.h"
#include "ingest/oddities.h"

namespace stepcast::ingest {
namespace {

// Real traces have two to a dozen threads; more are not worth the search.
constexpr size_t kMostThreads = 64;

// The names on one thread in order, and the node or event behind each.
struct Sequence {
  std::vector<uint32_t> names;
  std::vector<uint32_t> items;
};

std::map<int64_t, Sequence> ExecutionSequences(const ExecutionTrace& execution,
                                               const StringPool& trace_names,
                                               const Rules& rules) {
  std::map<int64_t, Sequence> sequences;
  for (uint32_t i = 0; i < execution.nodes.size(); ++i) {
    const ExecutionNode& node = execution.nodes[i];
    const std::string_view name = execution.strings.view(node.name);
    if (node.kind == NodeKind::kRoot || node.kind == NodeKind::kDevice ||
        rules.IsStep(name)) {
      continue;
    }
    Sequence& sequence = sequences[node.thread];
    // A name the profiler never saw gets the invalid id, which equals none.
    sequence.names.push_back(trace_names.Find(name).value);
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
    if (ours.dims == StringPool::kEmpty || node.kind != NodeKind::kOp) {
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
  const auto patterns =
      ExecutionSequences(execution, linked.trace.strings, rules);
  const auto texts = TraceSequences(linked, rules);
  for (const auto& [thread, pattern] : patterns) {
    if (pairing.threads.size() == kMostThreads) {
      break;
    }
    const auto borders = Borders(pattern.names);
    std::vector<size_t> best;
    uint32_t best_thread = 0;
    for (uint32_t i = 0; i < texts.size(); ++i) {
      auto found = Occurrences(pattern.names, borders, texts[i].names);
      if (found.size() > best.size()) {
        best = std::move(found);
        best_thread = i;
      }
    }
    for (const size_t first : best) {
      for (size_t i = 0; i < pattern.items.size(); ++i) {
        pairing.node_of[texts[best_thread].items[first + i]] = pattern.items[i];
      }
    }
    if (best.empty()) {
      diagnostics.Add(kPairMismatch, fmt::format("thread {}", thread));
    }
    pairing.threads.push_back(
        {.execution_thread = thread,
         .trace_thread = best_thread,
         .nodes = static_cast<int64_t>(pattern.items.size()),
         .matches = static_cast<int64_t>(best.size())});
  }
  CompareShapes(linked, execution, pairing, diagnostics);
  return pairing;
}

}  // namespace stepcast::ingest
