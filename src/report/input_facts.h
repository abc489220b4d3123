// What execution traces, graph files and pairs of traces hold.
#ifndef STEPCAST_REPORT_INPUT_FACTS_H_
#define STEPCAST_REPORT_INPUT_FACTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ingest/execution_trace.h"
#include "ingest/pair.h"
#include "ingest/profiler_trace.h"
#include "ingest/trace_info.h"
#include "ir/graph.h"

namespace stepcast::report {

/// One file of a rank.
struct FileFacts {
  std::string path{};
  std::string format{};
  std::string dialect{};
  std::string schema{};
  uint64_t text_bytes = 0;  // Uncompressed; 0 if unknown.
};

/// Of an execution trace.
struct ExecutionFacts {
  int64_t ops = 0;
  int64_t ops_with_shapes = 0;
  int64_t annotations = 0;
  int64_t threads_with_ops = 0;
  int64_t device_nodes = 0;  // Put in by a linker.
};

/// Of a graph file.
struct GraphFacts {
  int64_t ranks = 0;
  int64_t threads = 0;
  int64_t streams = 0;
  int64_t ops = 0;
  int64_t calls = 0;
  int64_t works = 0;
  int64_t measured_ops = 0;  // With a start; a duration alone does not count.
  int64_t measured_works = 0;
  int64_t collectives = 0;  // Matched across ranks.
};

/// How one thread of an execution trace was found in the profiler trace.
struct ThreadPairing {
  int64_t execution_thread = 0;
  std::string trace_thread{};
  int64_t nodes = 0;
  int64_t matches = 0;
};

struct PairingFacts {
  std::vector<ThreadPairing> threads{};
  int64_t compared_shapes = 0;
  int64_t different_shapes = 0;
};

FileFacts FactsOf(const ingest::TraceInfo& info);
ExecutionFacts FactsOf(const ingest::ExecutionTrace& trace);
GraphFacts FactsOf(const ir::Graph& graph);
PairingFacts FactsOf(const ingest::Pairing& pairing,
                     const ingest::ProfilerTrace& trace);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_INPUT_FACTS_H_
