// What traces hold, what is missing or odd in them, and what they are good for.
#ifndef STEPCAST_VIEW_REPORTS_DOCTOR_H_
#define STEPCAST_VIEW_REPORTS_DOCTOR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "base/units.h"
#include "ir/graph.h"
#include "trace/classify/rules.h"
#include "trace/inspect/coverage.h"
#include "trace/inspect/trace_facts.h"
#include "trace/link/pair.h"
#include "trace/read/execution_trace.h"
#include "trace/read/load.h"
#include "trace/read/profiler_trace.h"
#include "view/doc.h"

namespace stepcast::view {

// What execution traces, graph files and pairs of traces hold.

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
  int64_t activities = 0;
  int64_t measured_ops = 0;  // With a start; a duration alone does not count.
  int64_t measured_activities = 0;
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

FileFacts FactsOf(const trace::TraceInfo& info);
ExecutionFacts FactsOf(const trace::ExecutionTrace& trace);
GraphFacts FactsOf(const ir::Graph& graph);
PairingFacts FactsOf(const trace::Pairing& pairing,
                     const trace::ProfilerTrace& trace);

// Collectives over the ranks of a job: who came late, and what they cost then.

/// One collective that was matched across ranks and has times on all of them.
///
///   rank 0   [==============================]
///   rank 1                 [================]
///   rank 2                          [========]
///            |<--- start skew ----->|<- own ->|
struct CollectiveFacts {
  ir::CollectiveKind kind = ir::CollectiveKind::kUnknown;
  int64_t ranks = 0;      // Taking part.
  Bytes bytes{};          // The largest input of a rank; 0 if unknown.
  Duration start{};       // The first start, from the earliest step's start.
  Duration skew{};        // First start to last start.
  Duration own{};         // Last start to last end.
  Duration end_skew{};    // First end to last end: how well the clocks agree.
  int64_t last_rank = 0;  // That started last.
};

/// In order of their last start. The ranks' clocks are taken to agree.
std::vector<CollectiveFacts> FindCollectiveFacts(const ir::Graph& graph);

/// Below this share of device time with known sizes, a prediction would rest on
/// assumptions rather than on what was recorded.
inline constexpr double kSizedEnough = 0.9;

/// What the input is good for.
struct InputVerdict {
  bool replay = false;      // A step can be played back from its own times.
  bool host_only = false;   // That is the host's step: no device has a part.
  bool prediction = false;  // A step time can be predicted,
  /// on other GPUs, too: sizes are known, so that they can be priced.
  bool other_gpus = false;
  std::vector<std::string> missing{};  // "shapes", "step marks", ...
};

struct RankReport {
  int64_t rank = 0;
  std::vector<FileFacts> files{};
  std::optional<int64_t> world_size{};
  std::string backend{};
  bool rank_recorded = false;                // Or taken from names or order.
  std::vector<trace::DeviceInfo> devices{};  // That the trace used.
  std::optional<trace::TraceFacts> trace{};
  std::optional<ExecutionFacts> execution{};
  std::optional<PairingFacts> pairing{};
  std::optional<GraphFacts> graph{};
  trace::Coverage coverage{};
  Diagnostics diagnostics{};
  InputVerdict verdict{};
};

struct DoctorReport {
  std::vector<RankReport> ranks{};
  /// Whether the files are ranks of one job, each there once.
  bool one_job = false;
  std::vector<CollectiveFacts> collectives{};  // Of one step, over the ranks.
  std::optional<int64_t> collectives_step{};   // Its number.
  /// What replay and predict would do with the step of all ranks; not given if
  /// there is no graph of it.
  std::optional<InputVerdict> step{};
  std::string graph_error{};  // Why no graph can be built; empty if one can.
  Diagnostics diagnostics{};  // About the set.
  InputVerdict verdict{};     // Over all ranks.
};

/// What the readers found odd about one rank, without what the other file of a
/// pair makes up for.
Diagnostics RankDiagnostics(const trace::RankTrace& rank);

/// Looks at everything once; ranks on up to `threads` threads (0: one a core).
DoctorReport Diagnose(const trace::Loaded& loaded, const trace::Rules& rules,
                      size_t threads = 0);

// The doctor's report.

/// The ranks of one job as tables, or every rank in full; what is odd, with
/// advice, last. Programs get every rank in full.
Doc DoctorDoc(const DoctorReport& report);

}  // namespace stepcast::view

#endif  // STEPCAST_VIEW_REPORTS_DOCTOR_H_
