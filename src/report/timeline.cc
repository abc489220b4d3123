#include "report/timeline.h"

#include <string_view>

#include <fmt/format.h>

#include "base/json_write.h"
#include "engine/path_parts.h"
#include "ir/names.h"
#include "report/chrome_events.h"
#include "report/measured_events.h"
#include "report/simulated_slices.h"

namespace stepcast::report {
namespace {

// The critical path comes first, then rank by rank: measured and simulated, or
// before and after.
constexpr Track kFirstPath{.process = 1, .thread = 1};
constexpr Track kSecondPath{.process = 1, .thread = 2};
constexpr RankProcesses FirstOf(std::string_view suffix) {
  return {.first = 2, .stride = 2, .suffix = suffix};
}
constexpr RankProcesses SecondOf(std::string_view suffix) {
  return {.first = 3, .stride = 2, .suffix = suffix};
}

// Adds what was simulated of a step.
class SimulatedEvents : public SliceSink {
 public:
  SimulatedEvents(const engine::StepResult& result,
                  const RankProcesses& processes, int64_t first_arrow,
                  ChromeEvents& events)
      : result_(result),
        graph_(*result.graph),
        data_(graph_.data()),
        zero_(ZeroOf(result)),
        first_arrow_(first_arrow),
        tracks_(NameTracks(graph_, processes, TrackNames::kShort, events)),
        events_(events) {}

  void Op(ir::OpId op, ir::ThreadId thread, Duration start,
          Duration end) override;
  void Call(ir::CallId id, Duration start, Duration end) override;
  void Work(ir::WorkId id, const sim::Placement& placement,
            Duration call_start) override;

 private:
  const engine::StepResult& result_;
  const ir::Graph& graph_;
  const ir::GraphData& data_;
  const Duration zero_;        // Shown as 0.
  const int64_t first_arrow_;  // Arrows are numbered from here on.
  const Tracks tracks_;
  ChromeEvents& events_;
};

void SimulatedEvents::Op(ir::OpId op, ir::ThreadId thread, Duration start,
                         Duration end) {
  events_.AddComplete({.name = graph_.text(data_.ops[op].name),
                       .category = "cpu_op",
                       .track = tracks_.threads[thread.value],
                       .start = start - zero_,
                       .duration = end - start},
                      [](JsonWriter& /*json*/) {});
}

void SimulatedEvents::Call(ir::CallId id, Duration start, Duration end) {
  const ir::Call& call = data_.calls[id];
  events_.AddComplete(
      {.name = graph_.text(call.name),
       .category = "cuda_runtime",
       .track = tracks_.threads[call.thread.value],
       .start = start - zero_,
       .duration = end - start},
      [&](JsonWriter& json) { json.Key("kind").String(ir::Name(call.kind)); });
}

void SimulatedEvents::Work(ir::WorkId id, const sim::Placement& placement,
                           Duration call_start) {
  const ir::Work& work = data_.works[id];
  const Track& track = tracks_.streams[work.stream.value];
  events_.AddComplete(
      {.name = graph_.text(work.name),
       .category = CategoryOf(work.kind),
       .track = track,
       .start = placement.start - zero_,
       .duration = placement.end - placement.start},
      [&](JsonWriter& json) {
        if (!result_.causes.empty()) {
          json.Key("waited for").String(Name(result_.causes[id]));
        }
        if (work.collective.valid()) {
          json.Key("collective").Int(work.collective.value);
          WriteTime(json, "wait_us", placement.work - placement.start);
        }
      });
  if (work.call.valid()) {
    const ir::ThreadId thread = data_.calls[work.call].thread;
    events_.AddArrow(
        first_arrow_ + id.value,
        {.track = tracks_.threads[thread.value], .time = call_start - zero_},
        {.track = track, .time = placement.start - zero_});
  }
}

void AddPath(const engine::StepResult& result, const Track& track,
             std::string_view track_name, ChromeEvents& events) {
  const ir::Graph& graph = *result.graph;
  const Duration zero = ZeroOf(result);
  events.NameThread(track, track_name);
  for (const engine::PathPart& part : engine::DescribePath(result)) {
    if (part.begin == part.end || part.end <= zero) {
      continue;
    }
    const std::string name =
        fmt::format("rank {} {}", graph.data().ranks[part.rank].number,
                    Text(graph, part.subject));
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

// With arrows numbered after those of `before`.
void AddSlices(const engine::StepResult& result, const RankProcesses& processes,
               const engine::StepResult* before, ChromeEvents& events) {
  const int64_t arrows =
      before == nullptr ? 0 : int64_t{before->graph->data().works.size()};
  SimulatedEvents sink(result, processes, arrows, events);
  WalkSlices(result, sink);
}

std::string Document(const ChromeEvents& events) {
  return fmt::format("{{\"displayTimeUnit\": \"ms\",\n\"traceEvents\": {}}}\n",
                     events.ToString());
}

}  // namespace

std::string TimelineJson(const engine::StepResult& result, int64_t number) {
  ChromeEvents events;
  events.NameProcess(kFirstPath.process, "critical path");
  AddPath(result, kFirstPath, "critical path", events);
  if (FirstTime(result.graph->data())) {
    AddMeasuredEvents(*result.graph,
                      {.step = number,
                       .zero = ZeroOf(result),
                       .processes = FirstOf(" measured")},
                      events);
  }
  AddSlices(result, SecondOf(" simulated"), &result, events);
  return Document(events);
}

std::string TimelineJson(const engine::StepResult& before,
                         const engine::StepResult& after) {
  ChromeEvents events;
  events.NameProcess(kFirstPath.process, "critical paths");
  AddPath(before, kFirstPath, "before", events);
  AddPath(after, kSecondPath, "after", events);
  AddSlices(before, FirstOf(" before"), nullptr, events);
  AddSlices(after, SecondOf(" after"), &before, events);
  return Document(events);
}

}  // namespace stepcast::report
