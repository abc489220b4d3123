// The papers' own way from overheads and kernel times to a step: one pass over
// the ops with a clock for the host and one for each stream (Lin et al., HiPC
// 2022, and their multi-GPU sequel of 2024). The baseline to beat.
#ifndef STEPCAST_TIMELINE_LIN_WALK_H_
#define STEPCAST_TIMELINE_LIN_WALK_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cost/overheads/overhead_table.h"

namespace stepcast::timeline {

enum class LinVariant : uint8_t {
  k2021,  // A first version of May 2021, known by its host clock only.
  k2022,  // One GPU: the host never waits for it.
  k2024,  // Ranks with two streams each, collectives, waiting copies.
};

struct LinKernel {
  double us = 0;
  bool communication = false;  // On the second stream; the op's collective.
};

/// A top-level operator.
struct LinOp {
  std::string name{};
  std::vector<std::string> launches{};  // The calls' names; no syncs.
  std::vector<LinKernel> kernels{};     // Of the first launches, in order.
  bool modelled = true;                 // Else its kernels count for nothing.
  bool has_children = true;
  /// It uses what the last collective made, or is there to wait for it.
  bool waits_for_collective = false;
};

/// The overheads as the walk wants them: one T1 for all ops.
class LinOverheads {
 public:
  /// `table` must outlive it.
  explicit LinOverheads(const cost::OverheadTable& table, bool profiled = true)
      : table_(table), profiled_(profiled) {}

  double T1() const {
    return MeanOf(cost::OverheadPart::kBetweenOps, cost::kPooledName);
  }
  double T2(std::string_view op) const {
    return MeanOf(cost::OverheadPart::kBeforeLaunch, op);
  }
  double T3(std::string_view op) const {
    return MeanOf(cost::OverheadPart::kAfterLaunch, op);
  }
  double T4(std::string_view call) const;
  double T5(std::string_view op) const {
    return MeanOf(cost::OverheadPart::kBetweenLaunches, op);
  }
  double WholeOp(std::string_view op) const {
    return MeanOf(cost::OverheadPart::kNoLaunch, op);
  }

 private:
  double MeanOf(cost::OverheadPart part, std::string_view name) const;

  const cost::OverheadTable& table_;
  const bool profiled_;
};

struct LinResult {
  double step_us = 0;
  double host_us = 0;             // The host's clock at the end.
  double gpu_us = 0;              // The later of the streams' clocks.
  double active_us = 0;           // The GPU was at work.
  std::vector<double> clocks_us;  // The host's, after each op.
};

/// One rank alone.
LinResult LinWalk(std::span<const LinOp> ops, const LinOverheads& overheads,
                  LinVariant variant);

/// Ranks of a job, each with its own ops. With k2024 they meet in every
/// collective, the n-th of one with the n-th of the others.
std::vector<LinResult> LinWalkRanks(std::span<const std::vector<LinOp>> ranks,
                                    const LinOverheads& overheads,
                                    LinVariant variant);

}  // namespace stepcast::timeline

#endif  // STEPCAST_TIMELINE_LIN_WALK_H_
