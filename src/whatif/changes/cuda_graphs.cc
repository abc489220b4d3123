// cuda-graphs: parts of the step are launched as captured graphs, one call
// each.
#include <algorithm>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "model/settings.h"
#include "whatif/changes/all.h"

namespace stepcast::whatif {
namespace {

using model::CudaGraphs;

// Between two activities of a captured graph on one stream, in nanoseconds: the
// median of the 5,034 gaps in the graphs of a recorded DLRM on a V100, whose
// trace has integer microseconds.
constexpr double kGraphGap = 1'000;

bool Captures(CudaGraphs graphs, ir::Phase phase) {
  switch (phase) {
    case ir::Phase::kForward:
      return graphs != CudaGraphs::kOff;
    case ir::Phase::kBackward:
      return graphs == CudaGraphs::kForwardBackward ||
             graphs == CudaGraphs::kAll;
    case ir::Phase::kOptimizer:
      return graphs == CudaGraphs::kAll;
    case ir::Phase::kUnknown:
      return graphs == CudaGraphs::kAll;
    default:
      return false;
  }
}

// A stretch of a thread's segments becomes one launch: its first call is kept,
// everything else of the host goes.
class Capture {
 public:
  Capture(StepEditor& editor, CudaGraphs graphs)
      : editor_(editor),
        data_(editor.data()),
        graphs_(graphs),
        activities_of_(data_.calls.size()),
        outside_(data_.ops.size()) {
    FindOutside();
  }

  void Run(ir::ThreadId thread);
  size_t graphs() const { return count_; }
  size_t activities() const { return activities_; }

 private:
  void FindOutside();
  bool Captured(const timeline::HostSegment& segment) const {
    return segment.kind != cost::HostKind::kHandoff && segment.op.valid() &&
           outside_[segment.op] == 0 &&
           Captures(graphs_, PhaseOf(data_, segment.op));
  }

  StepEditor& editor_;
  const ir::GraphData& data_;
  const CudaGraphs graphs_;
  IdVector<ir::CallId, std::vector<ir::ActivityId>> activities_of_;
  IdVector<ir::OpId, char> outside_;  // Top-level ops that are not captured.
  size_t count_ = 0;
  size_t activities_ = 0;
};

// Ops in which the host waits for the device or for other ranks end a stretch,
// and so do copies from and to the host: a graph would repeat the data that it
// was captured with.
void Capture::FindOutside() {
  const IdVector<ir::OpId, ir::OpId> tops = timeline::TopLevelOps(data_);
  const auto leave = [&](ir::CallId call) {
    const ir::OpId op = data_.calls[call].op;
    if (op.valid() && tops[op].valid()) {
      outside_[tops[op]] = 1;
    }
  };
  for (const ir::ActivityId id : data_.activities.ids()) {
    const ir::Activity& activity = data_.activities[id];
    if (!activity.call.valid()) {
      continue;
    }
    activities_of_[activity.call].push_back(id);
    const auto* copy = std::get_if<ir::Copy>(&editor_.graph().shape(id));
    if (activity.kind == ir::ActivityKind::kCollective ||
        (copy != nullptr && (copy->kind == ir::CopyKind::kHostToDevice ||
                             copy->kind == ir::CopyKind::kDeviceToHost))) {
      leave(activity.call);
    }
  }
  for (const ir::HostWait& wait : data_.host_waits) {
    leave(wait.call);
  }
}

void Capture::Run(ir::ThreadId thread) {
  const std::vector<timeline::HostSegment>& segments =
      editor_.plan().threads[thread];
  bool open = false;
  for (uint32_t i = 0; i < segments.size(); ++i) {
    const timeline::HostSegment& segment = segments[i];
    const bool between = segment.kind == cost::HostKind::kBetweenOps;
    if (!Captured(segment) || (between && !open)) {
      open = open && between && !segment.op.valid();
      continue;
    }
    const bool launches =
        segment.call.valid() && !activities_of_[segment.call].empty();
    const bool first = launches && !open;
    if (!first) {
      editor_.times().segments[thread][i].duration = 0;
    }
    if (!launches) {
      continue;
    }
    for (const ir::ActivityId id : activities_of_[segment.call]) {
      EditedActivity& activity = editor_.times().activities[id];
      activity.gap = first ? activity.gap : std::min(activity.gap, kGraphGap);
      ++activities_;
    }
    count_ += first ? 1 : 0;
    open = true;
  }
}

}  // namespace

Status EditCudaGraphs(const Change& change, StepEditor& editor) {
  ASSIGN_OR_RETURN(const CudaGraphs graphs,
                   model::ParseCudaGraphs(change.value));
  if (graphs == CudaGraphs::kOff) {
    return {};  // What was recorded stays.
  }
  Capture capture(editor, graphs);
  for (const ir::ThreadId thread : editor.data().threads.ids()) {
    capture.Run(thread);
  }
  if (capture.activities() == 0) {
    return Fail(
        ErrorCode::kUnsupported,
        fmt::format(
            "change {} does not apply: no work {}is launched "
            "by an op; expected a step with {}",
            change.text, graphs == CudaGraphs::kAll ? "" : "of these phases ",
            graphs == CudaGraphs::kAll ? "ops"
                                       : "phases marked, or cuda-graphs=all"));
  }
  editor.Note(fmt::format(
      "{} activities in {} captured graph{}; an op that waits for the device "
      "or for other ranks, or copies from or to the host, ends one; shapes are "
      "assumed to stay the same",
      capture.activities(), capture.graphs(),
      capture.graphs() == 1 ? "" : "s"));
  editor.MarkBound();
  return {};
}

}  // namespace stepcast::whatif
