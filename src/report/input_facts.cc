#include "report/input_facts.h"

#include <algorithm>
#include <set>
#include <utility>

namespace stepcast::report {
namespace {

template <typename Items>
int64_t CountStarted(const Items& items) {
  return std::ranges::count_if(items, [](const auto& item) {
    return ir::StartOf(item.measured).has_value();
  });
}

}  // namespace

FileFacts FactsOf(const ingest::TraceInfo& info) {
  return {.path = info.path,
          .format = info.format,
          .dialect = info.dialect,
          .schema = info.schema,
          .text_bytes = info.text_bytes};
}

ExecutionFacts FactsOf(const ingest::ExecutionTrace& trace) {
  ExecutionFacts facts;
  std::set<int64_t> threads;
  for (const ingest::ExecutionNode& node : trace.nodes) {
    switch (node.kind) {
      case ingest::NodeKind::kRoot:
        break;
      case ingest::NodeKind::kAnnotation:
        ++facts.annotations;
        break;
      case ingest::NodeKind::kDevice:
        ++facts.device_nodes;
        break;
      case ingest::NodeKind::kOp:
        ++facts.ops;
        facts.ops_with_shapes +=
            node.arguments.dims != StringPool::kEmpty ? 1 : 0;
        threads.insert(node.thread);
        break;
    }
  }
  facts.threads_with_ops = static_cast<int64_t>(threads.size());
  return facts;
}

GraphFacts FactsOf(const ir::Graph& graph) {
  const ir::GraphData& data = graph.data();
  return {.ranks = data.ranks.size(),
          .threads = data.threads.size(),
          .streams = data.streams.size(),
          .ops = data.ops.size(),
          .calls = data.calls.size(),
          .works = data.works.size(),
          .measured_ops = CountStarted(data.ops),
          .measured_works = CountStarted(data.works),
          .collectives = data.collectives.size()};
}

PairingFacts FactsOf(const ingest::Pairing& pairing,
                     const ingest::ProfilerTrace& trace) {
  PairingFacts facts{.compared_shapes = pairing.compared_shapes,
                     .different_shapes = pairing.different_shapes};
  for (const ingest::PairedThread& thread : pairing.threads) {
    std::string name;
    if (thread.matches > 0 && thread.trace_thread < trace.threads.size()) {
      name = trace.threads[thread.trace_thread].thread;
    }
    facts.threads.push_back({.execution_thread = thread.execution_thread,
                             .trace_thread = std::move(name),
                             .nodes = thread.nodes,
                             .matches = thread.matches});
  }
  return facts;
}

}  // namespace stepcast::report
