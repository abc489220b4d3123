#include "report/timeline.h"

#include <vector>

#include <fmt/format.h>

#include "base/json_write.h"
#include "engine/path_parts.h"
#include "ir/names.h"
#include "report/chrome_events.h"
#include "report/measured_events.h"
#include "report/simulated_slices.h"

namespace stepcast::report {
namespace {

constexpr int kTimeDecimals = 3;
// The critical path comes first, then measured and simulated rank by rank.
constexpr Track kPathTrack{.process = 1, .thread = 1};
constexpr RankProcesses kMeasured{
    .first = 2, .stride = 2, .suffix = " measured"};
constexpr RankProcesses kSimulated{
    .first = 3, .stride = 2, .suffix = " simulated"};

class SimulatedEvents : public SliceSink {
 public:
  SimulatedEvents(const ir::Graph& graph, const SimulatedStep& step,
                  Duration zero, ChromeEvents& events)
      : graph_(graph),
        data_(graph.data()),
        step_(step),
        zero_(zero),
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
  const Duration zero_;
  std::vector<Track> thread_tracks_;
  std::vector<Track> stream_tracks_;
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
    // Behind the numbers of the measured arrows.
    events_.AddArrow(
        int64_t{data_.works.size()} + id.value,
        {.track = thread_tracks_[thread.value], .time = call_start - zero_},
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
  const SimulatedStep simulated(replay);
  const Duration zero = ZeroOf(graph, simulated);
  ChromeEvents events;
  AddPath(graph, simulated, zero, events);
  AddMeasuredEvents(graph, {.step = step, .zero = zero, .processes = kMeasured},
                    events);
  SimulatedEvents sink(graph, simulated, zero, events);
  WalkSlices(graph.data(), simulated, sink);
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
  AddPath(graph, simulated, zero, events);
  SimulatedEvents sink(graph, simulated, zero, events);
  WalkSlices(graph.data(), simulated, sink);
  return Document(events);
}

}  // namespace stepcast::report
