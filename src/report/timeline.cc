#include "report/timeline.h"

#include <vector>

#include <fmt/format.h>

#include "base/json_write.h"
#include "engine/path_parts.h"
#include "ir/names.h"
#include "report/chrome_events.h"
#include "report/json_parts.h"
#include "report/measured_events.h"
#include "report/simulated_slices.h"

namespace stepcast::report {
namespace {

// The critical path comes first, then measured and simulated rank by rank.
constexpr Track kPathTrack{.process = 1, .thread = 1};
constexpr RankProcesses kMeasured{
    .first = 2, .stride = 2, .suffix = " measured"};
constexpr RankProcesses kSimulated{
    .first = 3, .stride = 2, .suffix = " simulated"};

// Two predictions: their paths, then rank by rank.
constexpr Track kPathBefore{.process = 1, .thread = 1};
constexpr Track kPathAfter{.process = 1, .thread = 2};
constexpr RankProcesses kBefore{.first = 2, .stride = 2, .suffix = " before"};
constexpr RankProcesses kAfter{.first = 3, .stride = 2, .suffix = " after"};

// Where the events of a simulated step go.
struct Placing {
  Duration zero{};  // Shown as 0.
  RankProcesses processes = kSimulated;
  int64_t first_arrow = 0;  // Arrows are numbered from here on.
};

class SimulatedEvents : public SliceSink {
 public:
  SimulatedEvents(const ir::Graph& graph, const SimulatedStep& step,
                  const Placing& placing, ChromeEvents& events)
      : graph_(graph),
        data_(graph.data()),
        step_(step),
        placing_(placing),
        zero_(placing.zero),
        events_(events) {
    NameTracks();
  }

  void Op(ir::OpId op, ir::ThreadId thread, Duration start,
          Duration end) override;
  void Call(ir::CallId id, Duration start, Duration end) override;
  void Work(ir::WorkId id, const sim::Placement& placement,
            Duration call_start) override;

 private:
  void NameTracks();

  const ir::Graph& graph_;
  const ir::GraphData& data_;
  const SimulatedStep& step_;
  const Placing placing_;
  const Duration zero_;
  std::vector<Track> thread_tracks_;
  std::vector<Track> stream_tracks_;
  ChromeEvents& events_;
};

// As for measured events: threads first, then streams.
void SimulatedEvents::NameTracks() {
  std::vector<int64_t> used(data_.ranks.size());
  const auto next_track = [&](ir::RankId rank) -> Track {
    return {.process = placing_.processes.Of(data_.ranks[rank].number),
            .thread = ++used[rank.value]};
  };
  for (const ir::Rank& rank : data_.ranks) {
    events_.NameProcess(
        placing_.processes.Of(rank.number),
        fmt::format("rank {}{}", rank.number, placing_.processes.suffix));
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

void SimulatedEvents::Op(ir::OpId op, ir::ThreadId thread, Duration start,
                         Duration end) {
  events_.AddComplete({.name = graph_.text(data_.ops[op].name),
                       .category = "cpu_op",
                       .track = thread_tracks_[thread.value],
                       .start = start - zero_,
                       .duration = end - start},
                      [](JsonWriter& /*json*/) {});
}

void SimulatedEvents::Call(ir::CallId id, Duration start, Duration end) {
  const ir::Call& call = data_.calls[id];
  events_.AddComplete(
      {.name = graph_.text(call.name),
       .category = "cuda_runtime",
       .track = thread_tracks_[call.thread.value],
       .start = start - zero_,
       .duration = end - start},
      [&](JsonWriter& json) { json.Key("kind").String(ir::Name(call.kind)); });
}

void SimulatedEvents::Work(ir::WorkId id, const sim::Placement& placement,
                           Duration call_start) {
  const ir::Work& work = data_.works[id];
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
    events_.AddArrow(
        placing_.first_arrow + id.value,
        {.track = thread_tracks_[thread.value], .time = call_start - zero_},
        {.track = track, .time = placement.start - zero_});
  }
}

void AddPath(const ir::Graph& graph, const SimulatedStep& step, Duration zero,
             const Track& track, ChromeEvents& events) {
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
                        .track = track,
                        .start = part.begin - zero,
                        .duration = part.end - part.begin},
                       [&](JsonWriter& json) {
                         json.Key("kind").String(Name(part.subject.kind));
                       });
  }
}

// The path of a step that is shown alone.
void AddOnlyPath(const ir::Graph& graph, const SimulatedStep& step,
                 Duration zero, ChromeEvents& events) {
  events.NameProcess(kPathTrack.process, "critical path");
  events.NameThread(kPathTrack, "critical path");
  AddPath(graph, step, zero, kPathTrack, events);
}

// Its slices, likewise.
void AddSlices(const ir::Graph& graph, const SimulatedStep& step, Duration zero,
               ChromeEvents& events) {
  // Behind the numbers of the measured arrows.
  SimulatedEvents sink(
      graph, step,
      {.zero = zero, .first_arrow = int64_t{graph.data().works.size()}},
      events);
  WalkSlices(graph.data(), step, sink);
}

std::string Document(const ChromeEvents& events) {
  return fmt::format("{{\"displayTimeUnit\": \"ms\",\n\"traceEvents\": {}}}\n",
                     events.ToString());
}

}  // namespace

std::string ReplayTimeline(const ir::Graph& graph, const engine::Replay& replay,
                           int64_t step) {
  const SimulatedStep simulated(replay);
  const Duration zero = ZeroOf(graph, simulated);
  ChromeEvents events;
  AddOnlyPath(graph, simulated, zero, events);
  AddMeasuredEvents(graph, {.step = step, .zero = zero, .processes = kMeasured},
                    events);
  AddSlices(graph, simulated, zero, events);
  return Document(events);
}

std::string PredictionTimeline(const ir::Graph& graph,
                               const engine::Prediction& prediction) {
  const SimulatedStep simulated(prediction);
  const Duration zero = ZeroOf(graph, simulated);
  ChromeEvents events;
  if (FirstTime(graph.data())) {
    AddMeasuredEvents(graph, {.zero = zero, .processes = kMeasured}, events);
  }
  AddOnlyPath(graph, simulated, zero, events);
  AddSlices(graph, simulated, zero, events);
  return Document(events);
}

std::string BeforeAfterTimeline(const ir::Graph& graph_before,
                                const engine::Prediction& before,
                                const ir::Graph& graph_after,
                                const engine::Prediction& after) {
  const SimulatedStep first(before);
  const SimulatedStep second(after);
  const Duration zero_before = ZeroOf(graph_before, first);
  const Duration zero_after = ZeroOf(graph_after, second);
  ChromeEvents events;
  events.NameProcess(kPathBefore.process, "critical paths");
  events.NameThread(kPathBefore, "before");
  events.NameThread(kPathAfter, "after");
  AddPath(graph_before, first, zero_before, kPathBefore, events);
  AddPath(graph_after, second, zero_after, kPathAfter, events);
  SimulatedEvents sink_before(
      graph_before, first, {.zero = zero_before, .processes = kBefore}, events);
  WalkSlices(graph_before.data(), first, sink_before);
  SimulatedEvents sink_after(
      graph_after, second,
      {.zero = zero_after,
       .processes = kAfter,
       .first_arrow = int64_t{graph_before.data().works.size()}},
      events);
  WalkSlices(graph_after.data(), second, sink_after);
  return Document(events);
}

}  // namespace stepcast::report
