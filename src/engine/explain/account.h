// Where the time of each rank's step went.
#ifndef STEPCAST_ENGINE_EXPLAIN_ACCOUNT_H_
#define STEPCAST_ENGINE_EXPLAIN_ACCOUNT_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "base/units.h"
#include "ir/graph.h"
#include "sim/simulate.h"
#include "timeline/host_plan.h"
#include "timeline/lower.h"

namespace stepcast::engine {

inline constexpr size_t kFamilyCount = std::variant_size_v<ir::KernelShape>;

/// Why a device had nothing to run.
struct IdleTime {
  Duration host{};    // The host was busy before it came to the launch.
  Duration launch{};  // Between a call and its work, and between activities.
  Duration sync{};    // The host came back from a wait for the device.
  /// Nothing but a collective ran, and it waited for other ranks.
  Duration wait_for_rank{};
};

/// Every instant of the step is in one place: the kernels that ran (of several
/// the one that started first), else copies, else collectives active, else
/// waiting. All of them sum to `step`.
struct RankAccount {
  int64_t rank = 0;
  int64_t alike = 1;  // Ranks of the job that it stands for, with itself.
  Duration step{};
  std::array<Duration, kFamilyCount> kernels{};  // By family of shape.
  Duration copies_exposed{};         // Copies and memsets that nothing hides.
  Duration communication_exposed{};  // Collectives active, likewise.
  IdleTime idle{};
  // These overlap with the above:
  Duration gpu_active{};   // Anything ran; collectives that wait do not.
  Duration kernel_time{};  // Sum over the step's activities but collectives.
  Duration collective_wait{};  // Sum over collectives of the step.
  Duration host_busy{};        // Some thread did something.
  /// By HostKind, over all threads.
  std::array<Duration, cost::kHostKindCount> overheads{};
};

/// When a rank's step began and ended.
struct StepSpan {
  Duration begin{};
  Duration end{};
};

/// Of a step that runs once: from the rank's start to the end of its main
/// thread.
std::vector<StepSpan> SingleSpans(const timeline::Lowered& lowered,
                                  const sim::Schedule& schedule);
/// Of the last of several repeats: from the end of everything of the repeat
/// before to the end of everything of the last.
std::vector<StepSpan> LastSpans(const timeline::Lowered& lowered,
                                const sim::Schedule& schedule);
/// Of a recorded step in its steady state: as long as the repeats of the lane
/// that falls behind most are apart, up to the end of everything.
std::vector<StepSpan> SteadySpans(const timeline::Lowered& lowered,
                                  const sim::Schedule& schedule);
/// The length of each rank's step if it is taken over `repeats`, the last of
/// which is `last`.
IdVector<ir::RankId, Duration> SteadyPeriods(const timeline::Lowered& lowered,
                                             const sim::Schedule& schedule,
                                             uint32_t last, uint32_t repeats);
/// The one of these that fits: steady, of the last of several repeats or the
/// only step.
std::vector<StepSpan> SpansOf(const timeline::Lowered& lowered,
                              const sim::Schedule& schedule);

/// The length of the longest.
Duration LongestOf(const std::vector<StepSpan>& spans);

/// The accounts of all ranks within their spans; overheads are those of the
/// last repeat.
std::vector<RankAccount> MakeAccounts(const ir::GraphData& data,
                                      const timeline::HostPlan& plan,
                                      const timeline::Lowered& lowered,
                                      const sim::Schedule& schedule,
                                      const std::vector<StepSpan>& spans);

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_EXPLAIN_ACCOUNT_H_
