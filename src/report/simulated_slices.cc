#include "report/simulated_slices.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "lower/lower.h"
#include "report/measured_events.h"

namespace stepcast::report {
namespace {

using lower::TaskOrigin;

// The repeat that is shown.
uint32_t LastRepeat(const engine::StepResult& result) {
  return static_cast<uint32_t>(result.lowered.rank_ends.size()) - 1;
}

class Walk {
 public:
  Walk(const engine::StepResult& result, SliceSink& sink)
      : data_(result.graph->data()),
        result_(result),
        sink_(sink),
        call_starts_(data_.calls.size()) {}

  void Run() {
    for (const sim::TaskId task : result_.lowered.origins.ids()) {
      const TaskOrigin& origin = result_.lowered.origins[task];
      if (origin.repeat == LastRepeat(result_) &&
          (origin.kind == TaskOrigin::Kind::kPiece ||
           origin.kind == TaskOrigin::Kind::kReturn)) {
        AddPiece(task, result_.plan.threads[origin.thread][origin.piece]);
      }
    }
    CloseOp();
    for (const ir::WorkId id : data_.works.ids()) {
      const sim::TaskId task = result_.lowered.work_tasks[id];
      if (task.valid()) {
        const ir::CallId call = data_.works[id].call;
        sink_.Work(id, result_.schedule.placements[task],
                   call.valid() ? call_starts_[call.value] : Duration{});
      }
    }
  }

 private:
  // An op that is open while its pieces follow each other.
  struct OpenOp {
    ir::OpId op{};
    ir::ThreadId thread{};
    Duration start{};
    Duration end{};
  };

  void CloseOp() {
    if (open_.op.valid()) {
      sink_.Op(open_.op, open_.thread, open_.start, open_.end);
    }
    open_ = {};
  }

  void AddPiece(sim::TaskId task, const cost::HostPiece& piece) {
    const TaskOrigin& origin = result_.lowered.origins[task];
    const sim::Placement& placement = result_.schedule.placements[task];
    const bool returns = origin.kind == TaskOrigin::Kind::kReturn;
    const bool outside = piece.kind == cost::HostKind::kBetweenOps ||
                         piece.kind == cost::HostKind::kHandOver;
    if (outside || !piece.op.valid() || piece.op != open_.op ||
        origin.thread != open_.thread) {
      CloseOp();
    }
    if (outside) {
      return;
    }
    if (piece.op.valid()) {
      if (!open_.op.valid()) {
        open_ = {
            .op = piece.op, .thread = origin.thread, .start = placement.start};
      }
      open_.end = placement.end;
    }
    if (!piece.call.valid()) {
      return;
    }
    if (!returns) {
      call_starts_[piece.call.value] = placement.start;
    }
    // One that waits has a second task and is told with that.
    const bool waits = std::ranges::binary_search(data_.host_waits, piece.call,
                                                  {}, &ir::HostWait::call);
    if (returns || !waits) {
      sink_.Call(piece.call, call_starts_[piece.call.value], placement.end);
    }
  }

  const ir::GraphData& data_;
  const engine::StepResult& result_;
  SliceSink& sink_;
  OpenOp open_;
  std::vector<Duration> call_starts_;  // By call.
};

}  // namespace

Duration ZeroOf(const engine::StepResult& result) {
  const std::optional<Duration> first = FirstTime(result.graph->data());
  if (first || LastRepeat(result) == 0) {
    // Simulated time starts with the first rank's step.
    return std::min(first.value_or(Duration{}), Duration{});
  }
  // The told step begins where its host does, ahead of the device.
  Duration zero = Duration::max();
  for (const sim::TaskId task : result.lowered.origins.ids()) {
    const TaskOrigin& origin = result.lowered.origins[task];
    if (origin.repeat == LastRepeat(result) &&
        origin.kind == TaskOrigin::Kind::kStart) {
      zero = std::min(zero, result.schedule.placements[task].start);
    }
  }
  return zero;
}

void WalkSlices(const engine::StepResult& result, SliceSink& sink) {
  Walk(result, sink).Run();
}

}  // namespace stepcast::report
