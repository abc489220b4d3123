// What traces hold, what is missing or odd in them, and what they are good for.
#ifndef STEPCAST_REPORT_DOCTOR_H_
#define STEPCAST_REPORT_DOCTOR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "ingest/load.h"
#include "ingest/rules.h"
#include "report/collective_facts.h"
#include "report/coverage.h"
#include "report/input_facts.h"
#include "report/trace_facts.h"

namespace stepcast::report {

/// Below this share of device time with known sizes, guesses would decide a
/// prediction rather than what was recorded.
inline constexpr double kSizedEnough = 0.9;

/// What the input is good for.
struct InputVerdict {
  bool replay = false;      // A step can be played back from its own times.
  bool host_only = false;   // That is the host's step: no device has a part.
  bool prediction = false;  // Sizes are known, so other machines can be priced.
  std::vector<std::string> missing{};  // "shapes", "step marks", ...
};

struct RankReport {
  int64_t rank = 0;
  std::vector<FileFacts> files{};
  std::optional<int64_t> world_size{};
  std::string backend{};
  bool rank_recorded = false;                 // Or taken from names or order.
  std::vector<ingest::DeviceInfo> devices{};  // That the trace used.
  std::optional<TraceFacts> trace{};
  std::optional<ExecutionFacts> execution{};
  std::optional<PairingFacts> pairing{};
  std::optional<GraphFacts> graph{};
  Coverage coverage{};
  Diagnostics diagnostics{};
  InputVerdict verdict{};
};

struct DoctorReport {
  std::vector<RankReport> ranks{};
  /// Whether the files are ranks of one job, each there once.
  bool one_job = false;
  std::vector<CollectiveFacts> collectives{};  // Of one step, over the ranks.
  std::optional<int64_t> collectives_step{};   // Its number.
  std::string graph_error{};  // Why no graph can be built; empty if one can.
  Diagnostics diagnostics{};  // About the set.
  InputVerdict verdict{};     // Over all ranks.
};

/// What the readers found odd about one rank, without what the other file of a
/// pair makes up for.
Diagnostics RankDiagnostics(const ingest::RankTrace& rank);

/// Looks at everything once; ranks on up to `threads` threads (0: one a core).
DoctorReport Diagnose(const ingest::Loaded& loaded, const ingest::Rules& rules,
                      size_t threads = 0);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_DOCTOR_H_
