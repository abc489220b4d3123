// What the stretches of a critical path were spent on.
#ifndef STEPCAST_ENGINE_EXPLAIN_PATH_PARTS_H_
#define STEPCAST_ENGINE_EXPLAIN_PATH_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/string_pool.h"
#include "base/units.h"
#include "engine/explain/step_result.h"
#include "ir/graph.h"
#include "sim/critical_path.h"
#include "timeline/host_plan.h"
#include "timeline/lower.h"

namespace stepcast::engine {

// Names of ops and kernels, short enough to read.

/// "AddmmBackward0" for "autograd::engine::evaluate_function: AddmmBackward0";
/// other ops keep their name.
std::string ShortOpName(std::string_view name);

/// "CatArrayBatchedCopy" for "void at::native::(anonymous
/// namespace)::CatArrayBatchedCopy<float, ...>(...)": without what it returns
/// and takes, and without the spaces it is in. Copies keep their direction:
/// "Memcpy HtoD (Pageable -> Device)".
std::string ShortActivityName(std::string_view name);

enum class PathKind : uint8_t {
  kHost,        // The host was active, calls included.
  kLaunch,      // From a call to its work, and other delays of the device.
  kKernel,      // A kernel ran.
  kCopy,        // A copy or a memset ran.
  kCollective,  // A collective ran, with all ranks there.
  kSync,        // The host came back from a wait for the device.
  kWait,        // Nothing of the step had begun yet.
};
inline constexpr size_t kPathKindCount = 7;
/// "host", "launch", "kernel", "copy", "collective", "sync", "wait".
std::string_view Name(PathKind kind);

/// How a part reads after a time; with `name` where it says X.
enum class PathPhrase : uint8_t {
  kIn,                 // "in X"
  kBefore,             // "before X", an op
  kBetweenOps,         // "between ops"
  kBetweenThreads,     // "between threads"
  kReturning,          // "returning from X"
  kLaunching,          // "launching X"
  kBetweenActivities,  // "between activities"
  kBetweenStreams,     // "between streams"
  kStepStart,          // "before its step began"
  kThreadStart,        // "before its thread started"
  kStepBefore,         // "after the previous step"
};

/// What time goes to; parts with the same one can be summed.
struct PathSubject {
  PathKind kind = PathKind::kHost;
  PathPhrase phrase = PathPhrase::kIn;
  StringId name = StringPool::kEmpty;
  // clang-tidy 14 takes the 0 in a rewritten `a < b` for a pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const PathSubject&, const PathSubject&) = default;
};
std::string Text(const ir::Graph& graph, const PathSubject& subject);

struct PathPart {
  PathSubject subject{};
  ir::RankId rank{};
  sim::TaskId task{};
  Duration begin{};
  Duration end{};
};

/// One part for every step of `path`, in its order.
std::vector<PathPart> DescribePath(const ir::GraphData& data,
                                   const timeline::HostPlan& plan,
                                   const timeline::Lowered& lowered,
                                   std::span<const sim::PathStep> path);
/// The critical path of a step.
std::vector<PathPart> DescribePath(const StepResult& result);
/// The same as far as it is within the step of the slowest rank, without parts
/// of no length.
std::vector<PathPart> PathInStep(const StepResult& result);

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_EXPLAIN_PATH_PARTS_H_
