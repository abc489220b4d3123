#include "view/timelines/perfetto.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/json/json_write.h"
#include "base/text/join.h"
#include "timeline/lower.h"
#include "view/timelines/measured_events.h"

namespace stepcast::view {
namespace {

using timeline::TaskOrigin;

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
          (origin.kind == TaskOrigin::Kind::kSegment ||
           origin.kind == TaskOrigin::Kind::kReturn)) {
        AddSegment(task, result_.plan.threads[origin.thread][origin.segment]);
      }
    }
    CloseOp();
    for (const ir::ActivityId id : data_.activities.ids()) {
      const sim::TaskId task = result_.lowered.activity_tasks[id];
      if (task.valid()) {
        const ir::CallId call = data_.activities[id].call;
        sink_.Activity(id, result_.schedule.placements[task],
                       call.valid() ? call_starts_[call.value] : Duration{});
      }
    }
  }

 private:
  // An op that is open while its segments follow each other.
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

  void AddSegment(sim::TaskId task, const timeline::HostSegment& segment) {
    const TaskOrigin& origin = result_.lowered.origins[task];
    const sim::Placement& placement = result_.schedule.placements[task];
    const bool returns = origin.kind == TaskOrigin::Kind::kReturn;
    const bool outside = segment.kind == cost::HostKind::kBetweenOps ||
                         segment.kind == cost::HostKind::kHandoff;
    if (outside || !segment.op.valid() || segment.op != open_.op ||
        origin.thread != open_.thread) {
      CloseOp();
    }
    if (outside) {
      return;
    }
    if (segment.op.valid()) {
      if (!open_.op.valid()) {
        open_ = {.op = segment.op,
                 .thread = origin.thread,
                 .start = placement.start};
      }
      open_.end = placement.end;
    }
    if (!segment.call.valid()) {
      return;
    }
    if (!returns) {
      call_starts_[segment.call.value] = placement.start;
    }
    // A call that waits has a second task and is emitted with that.
    const bool waits = std::ranges::binary_search(
        data_.host_waits, segment.call, {}, &ir::HostWait::call);
    if (returns || !waits) {
      sink_.Call(segment.call, call_starts_[segment.call.value], placement.end);
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
  // The reported step begins where its host does, ahead of the device.
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

void WriteTime(JsonWriter& json, std::string_view key, Duration time) {
  constexpr int kNanoseconds = 3;  // The finest that times have.
  json.Key(key).Fixed(ToMicroseconds(time), kNanoseconds);
}

void ChromeEvents::NameProcess(int64_t process, std::string_view name) {
  AddMetadata("process", {.process = process}, name, process);
}

void ChromeEvents::NameThread(const Track& track, std::string_view name) {
  AddMetadata("thread", track, name, track.thread);
}

void ChromeEvents::AddArrow(int64_t id, const ArrowEnd& from,
                            const ArrowEnd& to) {
  AddArrowEnd("s", id, from);
  AddArrowEnd("f", id, to);
}

std::string ChromeEvents::ToString() const {
  return fmt::format("[\n{}\n]", Join(events_, ",\n"));
}

JsonWriter ChromeEvents::Begin(std::string_view phase, std::string_view name,
                               const Track& track) {
  JsonWriter json(JsonWriter::Style::kCompact);
  json.BeginObject();
  json.Key("ph").String(phase);
  json.Key("name").String(name);
  json.Key("pid").Int(track.process);
  json.Key("tid").Int(track.thread);
  return json;
}

JsonWriter ChromeEvents::BeginComplete(const CompleteEvent& event) {
  JsonWriter json = Begin("X", event.name, event.track);
  json.Key("cat").String(event.category);
  WriteTime(json, "ts", event.start);
  WriteTime(json, "dur", event.duration);
  json.Key("args").BeginObject();
  return json;
}

void ChromeEvents::Finish(JsonWriter& json) {
  json.EndObject();
  events_.push_back(json.Take());
}

void ChromeEvents::AddMetadata(std::string_view what, const Track& track,
                               std::string_view name, int64_t order) {
  JsonWriter label = Begin("M", fmt::format("{}_name", what), track);
  label.Key("args").BeginObject().Key("name").String(name).EndObject();
  Finish(label);
  JsonWriter place = Begin("M", fmt::format("{}_sort_index", what), track);
  place.Key("args").BeginObject().Key("sort_index").Int(order).EndObject();
  Finish(place);
}

void ChromeEvents::AddArrowEnd(std::string_view phase, int64_t id,
                               const ArrowEnd& end) {
  // The name and category of Kineto's arrows from calls to device events.
  JsonWriter json = Begin(phase, "ac2g", end.track);
  json.Key("cat").String("ac2g");
  json.Key("id").Int(id);
  WriteTime(json, "ts", end.time);
  if (phase == "f") {
    json.Key("bp").String("e");  // Ends at the event around it.
  }
  Finish(json);
}

namespace {

std::string Header(const ir::Graph& graph) {
  const ir::GraphData& data = graph.data();
  JsonWriter json(JsonWriter::Style::kCompact);
  json.BeginArray();
  for (const auto& [key, number] : NumberDevices(data)) {
    json.BeginObject();
    json.Key("id").Int(number);
    json.Key("name").String(graph.text(data.ranks[key.first].gpu));
    json.EndObject();
  }
  json.EndArray();
  std::string header = fmt::format(
      "{{\"schemaVersion\": 1, \"displayTimeUnit\": \"ms\",\n"
      "\"deviceProperties\": {},\n",
      json.Take());
  if (data.ranks.size() == 1) {
    header += fmt::format("\"distributedInfo\": {{\"rank\": {}}},\n",
                          data.ranks.items().front().number);
  }
  return header;
}

}  // namespace

Result<std::string> PerfettoJson(const ir::Graph& graph, int64_t step) {
  const std::optional<Duration> zero = FirstTime(graph.data());
  if (!zero) {
    return Fail(ErrorCode::kUnsupported,
                "the graph has no measured times to draw; expected one from "
                "a profiler trace");
  }
  ChromeEvents events;
  AddMeasuredEvents(graph, {.step = step, .zero = *zero}, events);
  return fmt::format("{}\"traceEvents\": {}}}\n", Header(graph),
                     events.ToString());
}

}  // namespace stepcast::view
