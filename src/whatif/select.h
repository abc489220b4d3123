// Which activities and segments of the host's plan a name of the user means.
#ifndef STEPCAST_WHATIF_SELECT_H_
#define STEPCAST_WHATIF_SELECT_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "timeline/host_plan.h"

namespace stepcast::whatif {

struct SegmentRef {
  ir::ThreadId thread{};
  uint32_t segment = 0;
};

struct Selection {
  std::vector<ir::ActivityId> activities;
  std::vector<SegmentRef> segments;  // With the time before each op.
};

/// `name` is that of an op or an annotation (with all inside it), of a kernel,
/// of a runtime call, of a family of kernels ("gemm") or of a kind of
/// collective ("all_reduce"); '*' is any text.
/// Kernels and ops go by their short names, too. A kernel takes along the call
/// that launches it and nothing else. Fails if nothing is called so.
Result<Selection> Select(const ir::Graph& graph, const timeline::HostPlan& plan,
                         std::string_view name);

}  // namespace stepcast::whatif

#endif  // STEPCAST_WHATIF_SELECT_H_
