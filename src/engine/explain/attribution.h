// Whose time a step's time is: device and host time by phase, annotation,
// module and op.
#ifndef STEPCAST_ENGINE_EXPLAIN_ATTRIBUTION_H_
#define STEPCAST_ENGINE_EXPLAIN_ATTRIBUTION_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "engine/explain/step_result.h"
#include "ir/graph.h"

namespace stepcast::engine {

enum class PlaceKind : uint8_t { kPhase, kAnnotation, kModule, kOp };
/// "phase", "annotation", "module", "op".
std::string_view Name(PlaceKind kind);

/// What one place took on a rank.
struct PlaceTimes {
  Duration gpu{};      // Activities; collectives once all ranks are there.
  Duration exposed{};  // Of it, while nothing else ran on the rank's GPU.
  Duration wait{};     // Collectives that wait for other ranks.
  Duration host{};     // Segments of the host's plan.
  // Of these, in the backward pass:
  Duration gpu_backward{};
  Duration host_backward{};

  PlaceTimes& operator+=(const PlaceTimes& other);
  /// The longer of device and host; what places are sorted by.
  Duration size() const { return std::max(gpu, host); }
};

/// A place in the tree. The ops of the backward pass are at the op of the
/// forward pass with the same number of autograd's, so that a module has both;
/// where that op's number was not recorded, in what is around the ops with the
/// numbers next to it.
///
///   forward and backward
///     ## forward ##          annotation
///       MLP_0                module, where Python's stack was recorded
///         aten::linear       op: the outermost one
struct Place {
  static constexpr uint32_t kNoPlace = std::numeric_limits<uint32_t>::max();

  PlaceKind kind = PlaceKind::kPhase;
  std::string name{};
  std::string site{};  // Of an op: the function it is from.
  uint32_t parent = kNoPlace;
  uint32_t depth = 0;
  size_t ops = 0;      // Outermost ops of the step that are here.
  PlaceTimes own{};    // Without what is below: of an op all of it.
  PlaceTimes total{};  // With it.
};

/// One rank's step. Every activity of the rank and every segment of its threads
/// is in one place.
struct Attribution {
  int64_t rank = 0;
  Duration step{};
  std::vector<Place> places{};  // Parents first; siblings by size.
  PlaceTimes total{};
  /// By function, where recorded.
  std::map<std::string, PlaceTimes> sites{};
  /// What the host did, by name: "in aten::linear", "before aten::linear",
  /// "cudaMalloc", "data loading".
  std::map<std::string, Duration> host_parts{};
};

Attribution Attribute(const StepResult& result, ir::RankId rank);

/// The same as folded stacks, one a line, for flame graphs:
/// "forward;MLP_0;aten::linear;volta_sgemm 1234", in microseconds; host time is
/// below "host".
std::string FoldedStacks(const StepResult& result, ir::RankId rank);

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_EXPLAIN_ATTRIBUTION_H_
