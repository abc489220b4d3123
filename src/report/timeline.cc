#include "report/timeline.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/json_write.h"
#include "engine/path_parts.h"
#include "ir/names.h"
#include "report/chrome_events.h"
#include "report/measured_events.h"

namespace stepcast::report {
namespace {

using lower::TaskOrigin;

constexpr int kTimeDecimals = 3;
// The critical path comes first, then measured and simulated rank by rank.
constexpr Track kPathTrack{.process = 1, .thread = 1};
constexpr RankProcesses kMeasured{
    .first = 2, .stride = 2, .suffix = " measured"};
constexpr RankProcesses kSimulated{
    .first = 3, .stride = 2, .suffix = " simulated"};

// A step that was simulated; its parts live elsewhere.
struct SimulatedStep {
  const cost::HostPlan& plan;
  const lower::Lowered& lowered;
  const sim::Schedule& schedule;
  const std::vector<sim::PathStep>& critical_path;
  /// Why each work started when it was measured to; null: not measured.
  const IdVector<ir::WorkId, lower::StartCause>* causes = nullptr;

  uint32_t last_repeat() const {
    return static_cast<uint32_t>(lowered.rank_ends.size()) - 1;
  }
};

class SimulatedEvents {
 public:
  SimulatedEvents(const ir::Graph& graph, const SimulatedStep& step,
                  Duration zero, ChromeEvents& events)
      : graph_(graph),
        data_(graph.data()),
        step_(step),
        zero_(zero),
        events_(events) {}

  void Run() {
    NameTracks();
    AddHost();
    for (const ir::WorkId id : data_.works.ids()) {
      AddWork(id);
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

  const sim::Placement& PlacementOf(sim::TaskId task) const {
    return step_.schedule.placements[task];
  }

  void NameTracks();
  void AddHost();
  void AddPiece(sim::TaskId task, const cost::HostPiece& piece);
  void CloseOp();
  void AddCall(const cost::HostPiece& piece, Duration start, Duration end);
  void AddWork(ir::WorkId id);

  const ir::Graph& graph_;
  const ir::GraphData& data_;
  const SimulatedStep& step_;
  const Duration zero_;
  std::vector<Track> thread_tracks_;
  std::vector<Track> stream_tracks_;
  OpenOp open_;
  std::vector<Duration> call_starts_;  // By call.
  ChromeEvents& events_;
};

// As for measured events: threads first, then streams.
void SimulatedEvents::NameTracks() {
  std::vector<int64_t> used(data_.ranks.size());
  const auto next_track = [&](ir::RankId rank) -> Track {
    return {.process = kSimulated.Of(data_.ranks[rank].number),
            .thread = ++used[rank.value]};
  };
  for (const ir::Rank& rank : data_.ranks) {
    events_.NameProcess(
        kSimulated.Of(rank.number),
        fmt::format("rank {}{}", rank.number, kSimulated.suffix));
  }
  for (const ir::Thread& thread : data_.threads) {
    thread_tracks_.push_back(next_track(thread.rank));
    events_.NameThread(thread_tracks_.back(),
                       fmt::format("{} thread", ir::Name(thread.role)));
  }
  for (const ir::Stream& stream : data_.streams) {
    stream_tracks_.push_back(next_track(stream.rank));
    events_.NameThread(stream_tracks_.back(),
                       fmt::format("stream {}", stream.number));
  }
}

void SimulatedEvents::CloseOp() {
  if (open_.op.valid()) {
    events_.AddComplete({.name = graph_.text(data_.ops[open_.op].name),
                         .category = "cpu_op",
                         .track = thread_tracks_[open_.thread.value],
                         .start = open_.start - zero_,
                         .duration = open_.end - open_.start},
                        [](JsonWriter& /*json*/) {});
  }
  open_ = {};
}

void SimulatedEvents::AddCall(const cost::HostPiece& piece, Duration start,
                              Duration end) {
  const ir::Call& call = data_.calls[piece.call];
  events_.AddComplete(
      {.name = graph_.text(call.name),
       .category = "cuda_runtime",
       .track = thread_tracks_[call.thread.value],
       .start = start - zero_,
       .duration = end - start},
      [&](JsonWriter& json) { json.Key("kind").String(ir::Name(call.kind)); });
}

void SimulatedEvents::AddPiece(sim::TaskId task, const cost::HostPiece& piece) {
  const TaskOrigin& origin = step_.lowered.origins[task];
  const sim::Placement& placement = PlacementOf(task);
  const bool returns = origin.kind == TaskOrigin::Kind::kReturn;
  if (piece.kind == cost::HostKind::kBetweenOps ||
      piece.kind == cost::HostKind::kHandOver || !piece.op.valid() ||
      piece.op != open_.op || origin.thread != open_.thread) {
    CloseOp();
  }
  if (piece.kind == cost::HostKind::kBetweenOps ||
      piece.kind == cost::HostKind::kHandOver) {
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
  // One that waits has a second task and is drawn with that.
  const bool waits = std::ranges::binary_search(data_.host_waits, piece.call,
                                                {}, &ir::HostWait::call);
  if (returns || !waits) {
    AddCall(piece, call_starts_[piece.call.value], placement.end);
  }
}

void SimulatedEvents::AddHost() {
  call_starts_.resize(data_.calls.size());
  for (const sim::TaskId task : step_.lowered.origins.ids()) {
    const TaskOrigin& origin = step_.lowered.origins[task];
    if (origin.repeat == step_.last_repeat() &&
        (origin.kind == TaskOrigin::Kind::kPiece ||
         origin.kind == TaskOrigin::Kind::kReturn)) {
      AddPiece(task, step_.plan.threads[origin.thread][origin.piece]);
    }
  }
  CloseOp();
}

void SimulatedEvents::AddWork(ir::WorkId id) {
  const sim::TaskId task = step_.lowered.work_tasks[id];
  if (!task.valid()) {
    return;
  }
  const ir::Work& work = data_.works[id];
  const sim::Placement& placement = PlacementOf(task);
  const Track& track = stream_tracks_[work.stream.value];
  events_.AddComplete(
      {.name = graph_.text(work.name),
       .category = CategoryOf(work.kind),
       .track = track,
       .start = placement.start - zero_,
       .duration = placement.end - placement.start},
      [&](JsonWriter& json) {
        if (step_.causes != nullptr) {
          json.Key("waited for").String(Name((*step_.causes)[id]));
        }
        if (work.collective.valid()) {
          json.Key("collective").Int(work.collective.value);
          json.Key("wait_us").Fixed(
              ToMicroseconds(placement.work - placement.start), kTimeDecimals);
        }
      });
  if (work.call.valid()) {
    const ir::ThreadId thread = data_.calls[work.call].thread;
    // Behind the numbers of the measured arrows.
    events_.AddArrow(int64_t{data_.works.size()} + id.value,
                     {.track = thread_tracks_[thread.value],
                      .time = call_starts_[work.call.value] - zero_},
                     {.track = track, .time = placement.start - zero_});
  }
}

void AddPath(const ir::Graph& graph, const SimulatedStep& step, Duration zero,
             ChromeEvents& events) {
  events.NameProcess(kPathTrack.process, "critical path");
  events.NameThread(kPathTrack, "critical path");
  const ir::GraphData& data = graph.data();
  for (const engine::PathPart& part : engine::DescribePath(
           data, step.plan, step.lowered, step.critical_path)) {
    if (part.begin == part.end || part.end <= zero) {
      continue;
    }
    const std::string name = fmt::format(
        "rank {} {}", data.ranks[part.rank].number, Text(graph, part.subject));
    events.AddComplete({.name = name,
                        .category = Name(part.subject.kind),
                        .track = kPathTrack,
                        .start = part.begin - zero,
                        .duration = part.end - part.begin},
                       [&](JsonWriter& json) {
                         json.Key("kind").String(Name(part.subject.kind));
                       });
  }
}

std::string Document(const ChromeEvents& events) {
  return fmt::format("{{\"displayTimeUnit\": \"ms\",\n\"traceEvents\": {}}}\n",
                     events.ToString());
}

}  // namespace

std::string ReplayTimeline(const ir::Graph& graph, const engine::Replay& replay,
                           int64_t step) {
  // Simulated time starts with the first rank's step.
  const Duration zero =
      std::min(FirstTime(graph.data()).value_or(Duration{}), Duration{});
  const SimulatedStep simulated{.plan = replay.plan,
                                .lowered = replay.lowered,
                                .schedule = replay.schedule,
                                .critical_path = replay.critical_path,
                                .causes = &replay.times.causes};
  ChromeEvents events;
  AddPath(graph, simulated, zero, events);
  AddMeasuredEvents(graph, {.step = step, .zero = zero, .processes = kMeasured},
                    events);
  SimulatedEvents(graph, simulated, zero, events).Run();
  return Document(events);
}

std::string PredictionTimeline(const ir::Graph& graph,
                               const engine::Prediction& prediction) {
  const SimulatedStep simulated{.plan = prediction.plan,
                                .lowered = prediction.lowered,
                                .schedule = prediction.schedule,
                                .critical_path = prediction.critical_path};
  ChromeEvents events;
  const auto first = FirstTime(graph.data());
  Duration zero = std::min(first.value_or(Duration{}), Duration{});
  if (first) {
    AddMeasuredEvents(graph, {.zero = zero, .processes = kMeasured}, events);
  } else if (simulated.last_repeat() > 0) {
    // The told step begins where its host does, ahead of the device.
    zero = Duration::max();
    for (const sim::TaskId task : simulated.lowered.origins.ids()) {
      const TaskOrigin& origin = simulated.lowered.origins[task];
      if (origin.repeat == simulated.last_repeat() &&
          origin.kind == TaskOrigin::Kind::kStart) {
        zero = std::min(zero, simulated.schedule.placements[task].start);
      }
    }
  }
  AddPath(graph, simulated, zero, events);
  SimulatedEvents(graph, simulated, zero, events).Run();
  return Document(events);
}

}  // namespace stepcast::report
