// fuse-optimizer: the optimizer's kernels become one a stream.
#include <map>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "model/model.h"
#include "whatif/changes/all.h"
#include "whatif/fuse.h"

namespace stepcast::whatif {

Status SetFusedOptimizer(const Change& change, scenario::Job& job) {
  RETURN_IF_ERROR(NoValue(change));
  return SetNamed(change, "fused-optimizer", "true", job);
}

// All tensors are read and written as before, in one go.
Status FuseOptimizer(const Change& change, StepEditor& editor) {
  RETURN_IF_ERROR(NoValue(change));
  const ir::GraphData& data = editor.data();
  std::map<ir::StreamId, std::vector<ir::ActivityId>> groups;
  for (const ir::ActivityId id : data.activities.ids()) {
    const auto* item = std::get_if<ir::Elementwise>(&editor.shape(id));
    if (!editor.times().activities[id].dropped && item != nullptr &&
        ir::IsSized(*item) && PhaseOf(data, id) == ir::Phase::kOptimizer) {
      groups[data.activities[id].stream].push_back(id);
    }
  }
  FusedActivities fused;
  for (const auto& [stream, activities] : groups) {
    if (activities.size() < 2) {
      continue;
    }
    ir::Elementwise joined;
    for (const ir::ActivityId id : activities) {
      const auto& item = std::get<ir::Elementwise>(editor.shape(id));
      joined.elements += item.elements;
      joined.read.count += item.read.count;
      joined.written.count += item.written.count;
      joined.dtype = item.dtype;
      joined.arithmetic = std::max(joined.arithmetic, item.arithmetic);
    }
    RETURN_IF_ERROR(Fuse(activities, joined, editor, fused));
  }
  const auto is_optimizer = [&](ir::ActivityId id,
                                const ir::KernelShape& shape) {
    return std::holds_alternative<ir::Elementwise>(shape) &&
           PhaseOf(data, id) == ir::Phase::kOptimizer;
  };
  if (fused.groups == 0 && AnyFused(editor, is_optimizer)) {
    return {};
  }
  if (fused.groups == 0) {
    return Fail(ErrorCode::kUnsupported,
                "change fuse-optimizer does not apply: no two elementwise "
                "kernels are known to be the optimizer's; expected a step with "
                "shapes and its phases marked");
  }
  DropLaunches(fused.dropped, editor);
  editor.Note(fmt::format("{} kernels of the optimizer in {}",
                          fused.dropped.size() + fused.groups, fused.groups));
  return {};
}

}  // namespace stepcast::whatif
