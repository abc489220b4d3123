// cuda-graphs: parts of the step are launched as captured graphs, one call
// each.
#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "model/settings.h"
#include "whatif/changes/all.h"

namespace stepcast::whatif {
namespace {

using model::CudaGraphs;

// Between two works of a captured graph on one stream, in nanoseconds: the
// median of the 5,034 gaps in the graphs of a recorded DLRM on a V100, whose
// trace has whole microseconds.
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
    default:
      return false;
  }
}

// A stretch of a thread's pieces becomes one launch: its first call is kept,
// everything else of the host goes.
class Capture {
 public:
  Capture(StepEditor& editor, CudaGraphs graphs)
      : editor_(editor),
        data_(editor.data()),
        graphs_(graphs),
        works_of_(data_.calls.size()),
        outside_(data_.ops.size()) {
    FindOutside();
  }

  void Run(ir::ThreadId thread);
  size_t graphs() const { return count_; }
  size_t works() const { return works_; }

 private:
  void FindOutside();
  bool Captured(const timeline::HostPiece& piece) const {
    return piece.kind != cost::HostKind::kHandOver && piece.op.valid() &&
           outside_[piece.op] == 0 &&
           Captures(graphs_, PhaseOf(data_, piece.op));
  }

  StepEditor& editor_;
  const ir::GraphData& data_;
  const CudaGraphs graphs_;
  IdVector<ir::CallId, std::vector<ir::WorkId>> works_of_;
  IdVector<ir::OpId, char> outside_;  // Top-level ops that are not captured.
  size_t count_ = 0;
  size_t works_ = 0;
};

// Ops in which the host waits for the device or ranks meet end a stretch.
void Capture::FindOutside() {
  const IdVector<ir::OpId, ir::OpId> tops = timeline::TopLevelOps(data_);
  const auto leave = [&](ir::CallId call) {
    const ir::OpId op = data_.calls[call].op;
    if (op.valid() && tops[op].valid()) {
      outside_[tops[op]] = 1;
    }
  };
  for (const ir::WorkId id : data_.works.ids()) {
    const ir::Work& work = data_.works[id];
    if (!work.call.valid()) {
      continue;
    }
    works_of_[work.call].push_back(id);
    if (work.kind == ir::WorkKind::kCollective) {
      leave(work.call);
    }
  }
  for (const ir::HostWait& wait : data_.host_waits) {
    leave(wait.call);
  }
}

void Capture::Run(ir::ThreadId thread) {
  const std::vector<timeline::HostPiece>& pieces =
      editor_.plan().threads[thread];
  bool open = false;
  for (uint32_t i = 0; i < pieces.size(); ++i) {
    const timeline::HostPiece& piece = pieces[i];
    const bool between = piece.kind == cost::HostKind::kBetweenOps;
    if (!Captured(piece) || (between && !open)) {
      open = open && between && !piece.op.valid();
      continue;
    }
    const bool launches = piece.call.valid() && !works_of_[piece.call].empty();
    const bool first = launches && !open;
    if (!first) {
      editor_.times().pieces[thread][i].duration = 0;
    }
    if (!launches) {
      continue;
    }
    for (const ir::WorkId id : works_of_[piece.call]) {
      EditedWork& work = editor_.times().works[id];
      work.gap = first ? work.gap : std::min(work.gap, kGraphGap);
      ++works_;
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
  if (capture.works() == 0) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("change {} does not apply: no work of these phases "
                            "is launched by an op; expected a step with "
                            "phases marked",
                            change.text));
  }
  editor.Note(fmt::format(
      "{} works in {} captured graph{}; an op that waits for the device or for "
      "other ranks ends one, and shapes are taken to stay the same",
      capture.works(), capture.graphs(), capture.graphs() == 1 ? "" : "s"));
  editor.MarkBound();
  return {};
}

}  // namespace stepcast::whatif
