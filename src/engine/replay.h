// Runs a measured step again from its own durations and compares.
#ifndef STEPCAST_ENGINE_REPLAY_H_
#define STEPCAST_ENGINE_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "engine/blame.h"
#include "engine/step_result.h"
#include "ir/graph.h"

namespace stepcast::engine {

/// Time that the graph gives no cause for.
struct Unexplained {
  int64_t rank = 0;
  std::string what;  // "gemm kernel started so long behind its launch".
  Duration at{};     // From the rank's start of the step.
  Duration time{};
};

/// One rank's step, measured and simulated.
struct ReplayedRank {
  int64_t rank = 0;
  Duration measured{};
  Duration simulated{};
  Duration gpu_active_measured{};
  Duration gpu_active_simulated{};
  Duration unexplained{};  // Sum of its entries.
  /// Relative to measured; 0 for a step of no length.
  double error() const {
    return measured.count() == 0
               ? 0
               : static_cast<double>((simulated - measured).count()) /
                     static_cast<double>(measured.count());
  }
};

/// A step beside its measured self.
struct Replay {
  StepResult result;
  std::vector<ReplayedRank> ranks;
  std::vector<CollectiveBlame> collectives;
  std::vector<Unexplained> unexplained;  // The largest first.
  size_t overlaps = 0;  // Works that overlap on one stream, cut.
};

/// Fails if a rank has no measured step or nothing of its host in it, or if
/// collectives can never meet.
Result<Replay> ReplayStep(std::shared_ptr<const ir::Graph> graph);

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_REPLAY_H_
