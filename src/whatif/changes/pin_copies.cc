// pin-copies: the host's side of all copies is page-locked.
#include <algorithm>
#include <map>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "whatif/changes/all.h"

namespace stepcast::whatif {
namespace {

bool IsPageable(const ir::KernelShape& shape) {
  const auto* copy = std::get_if<ir::Copy>(&shape);
  return copy != nullptr && !copy->pinned &&
         (copy->kind == ir::CopyKind::kHostToDevice ||
          copy->kind == ir::CopyKind::kDeviceToHost);
}

// What a launch of a kernel takes the host: half of them take less.
double UsualCall(const StepEditor& editor) {
  const ir::GraphData& data = editor.data();
  std::vector<double> durations;
  for (const ir::ThreadId thread : data.threads.ids()) {
    const auto& segments = editor.plan().threads[thread];
    for (size_t i = 0; i < segments.size(); ++i) {
      if (segments[i].call.valid() &&
          data.calls[segments[i].call].kind == ir::CallKind::kLaunch) {
        durations.push_back(editor.times().segments[thread][i].duration);
      }
    }
  }
  std::ranges::sort(durations);
  return durations.empty() ? 0 : durations[durations.size() / 2];
}

}  // namespace

Status SetPinned(const Change& change, scenario::Job& job) {
  RETURN_IF_ERROR(NoValue(change));
  job.request.settings.pinned = true;
  return {};
}

// Copies take what models make of them with page-locked memory; the calls of
// those to the device neither stage nor wait.
Status EditPinned(const Change& change, StepEditor& editor) {
  RETURN_IF_ERROR(NoValue(change));
  const ir::GraphData& data = editor.data();
  const double call_time = UsualCall(editor);
  std::vector<char> pinned(data.calls.size());
  std::vector<ir::ActivityId> copies;
  std::map<ir::ShapeId, ir::ShapeId> pinned_shapes;
  for (const ir::ActivityId id : data.activities.ids()) {
    const ir::KernelShape& shape = editor.graph().shape(id);
    if (!IsPageable(shape)) {
      continue;
    }
    copies.push_back(id);
    ir::Copy copy = std::get<ir::Copy>(shape);
    copy.pinned = true;
    ir::ShapeId& pinned_shape = pinned_shapes[data.activities[id].shape];
    if (!pinned_shape.valid()) {
      pinned_shape = editor.AddShape(copy);
    }
    editor.SetShape(id, pinned_shape);
    // What comes to the host is waited for by who reads it there.
    if (copy.kind == ir::CopyKind::kHostToDevice &&
        data.activities[id].call.valid()) {
      pinned[data.activities[id].call.value] = 1;
    }
  }
  if (copies.empty()) {
    return Fail(ErrorCode::kUnsupported,
                "change pin-copies does not apply: no copy is known to come "
                "from pageable memory; expected one");
  }
  RETURN_IF_ERROR(editor.Reprice(copies));
  for (const ir::ThreadId thread : data.threads.ids()) {
    const auto& segments = editor.plan().threads[thread];
    for (uint32_t i = 0; i < segments.size(); ++i) {
      if (segments[i].call.valid() && pinned[segments[i].call.value] != 0) {
        EditedSegment& times = editor.times().segments[thread][i];
        times.duration = std::min(times.duration, call_time);
        times.tail = 0;
        times.waits = false;
      }
    }
  }
  editor.Note(fmt::format("{} cop{} with page-locked memory", copies.size(),
                          copies.size() == 1 ? "y" : "ies"));
  return {};
}

}  // namespace stepcast::whatif
