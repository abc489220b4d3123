#include "whatif/fuse.h"

#include <algorithm>
#include <utility>

namespace stepcast::whatif {
namespace {

// How many activities calls and top-level ops have put on a device.
struct Launched {
  uint32_t activities = 0;
  uint32_t dropped = 0;
  bool all() const { return activities > 0 && activities == dropped; }
};

}  // namespace

bool AnyFused(
    const StepEditor& editor,
    const std::function<bool(ir::ActivityId, const ir::KernelShape&)>& is_so) {
  return std::ranges::any_of(editor.times().fusions, [&](const auto& item) {
    return is_so(item.first, editor.shape(item.first));
  });
}

Status Fuse(std::span<const ir::ActivityId> activities,
            const ir::KernelShape& joined, StepEditor& editor,
            FusedActivities& fused) {
  ASSIGN_OR_RETURN(ShapePrices* const prices,
                   editor.PricesOn(editor.machine()));
  Fusion fusion{.shape = editor.AddShape(joined)};
  prices->Want(fusion.shape, joined);
  for (const ir::ActivityId id : activities) {
    prices->Want(editor.times().activities[id].shape, editor.shape(id));
  }
  prices->Fill();
  bool priced = (*prices)[fusion.shape].has_value();
  double duration = 0;
  for (const ir::ActivityId id : activities) {
    const EditedActivity& activity = editor.times().activities[id];
    priced = priced && (*prices)[activity.shape].has_value();
    duration += activity.duration / activity.ratio;
    const auto parts = editor.ActivitiesIn(id);
    fusion.activities.insert(fusion.activities.end(), parts.begin(),
                             parts.end());
  }
  if (!priced) {
    return {};
  }
  const ir::ActivityId first = activities.front();
  editor.times().activities[first].duration = duration;
  editor.times().activities[first].ratio = 1;
  editor.SetShape(first, fusion.shape);
  editor.times().fusions[first] = std::move(fusion);
  RETURN_IF_ERROR(editor.Reprice({&first, 1}));
  fused.dropped.insert(fused.dropped.end(), activities.begin() + 1,
                       activities.end());
  ++fused.groups;
  return {};
}

void DropLaunches(const std::vector<ir::ActivityId>& activities,
                  StepEditor& editor) {
  const ir::GraphData& data = editor.data();
  for (const ir::ActivityId id : activities) {
    editor.DropActivity(id);
  }
  const IdVector<ir::OpId, ir::OpId> tops = timeline::TopLevelOps(data);
  IdVector<ir::CallId, Launched> calls(data.calls.size());
  IdVector<ir::OpId, Launched> ops(data.ops.size());
  for (const ir::ActivityId id : data.activities.ids()) {
    const ir::CallId call = data.activities[id].call;
    if (!call.valid()) {
      continue;
    }
    const uint32_t dropped = editor.times().activities[id].dropped ? 1 : 0;
    ++calls[call].activities;
    calls[call].dropped += dropped;
    const ir::OpId op = data.calls[call].op;
    if (op.valid() && tops[op].valid()) {
      ++ops[tops[op]].activities;
      ops[tops[op]].dropped += dropped;
    }
  }
  for (const ir::ThreadId thread : data.threads.ids()) {
    const auto& segments = editor.plan().threads[thread];
    for (uint32_t i = 0; i < segments.size(); ++i) {
      const timeline::HostSegment& segment = segments[i];
      if (segment.kind != cost::HostKind::kHandoff &&
          ((segment.call.valid() && calls[segment.call].all()) ||
           (segment.op.valid() && ops[segment.op].all()))) {
        editor.DropSegment({.thread = thread, .segment = i});
      }
    }
  }
}

}  // namespace stepcast::whatif
