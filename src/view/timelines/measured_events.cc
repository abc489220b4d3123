#include "view/timelines/measured_events.h"

#include <algorithm>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/json/json_write.h"
#include "base/text/join.h"
#include "ir/names.h"

namespace stepcast::view {
namespace {

using ir::ActivityId;
using ir::CallId;
using ir::Measured;
using ir::OpId;
using ir::RankId;
using ir::StreamId;
using ir::ThreadId;

RankId RankOfItem(const ir::GraphData& data, const ir::Op& op) {
  return data.threads[op.thread].rank;
}
RankId RankOfItem(const ir::GraphData& data, const ir::Call& call) {
  return data.threads[call.thread].rank;
}
RankId RankOfItem(const ir::GraphData& data, const ir::Activity& activity) {
  return data.streams[activity.stream].rank;
}

void WritePhase(JsonWriter& json, ir::Phase phase) {
  if (phase != ir::Phase::kUnknown) {
    json.Key("phase").String(ir::Name(phase));
  }
}

void WriteShape(JsonWriter& json, const ir::KernelShape& shape) {
  json.Key("shape").String(ir::ShapeText(shape));
  if (const auto* copy = std::get_if<ir::Copy>(&shape)) {
    json.Key("bytes").Int(copy->bytes.count);
  } else if (const auto* fill = std::get_if<ir::Fill>(&shape)) {
    json.Key("bytes").Int(fill->bytes.count);
  }
}

class EventAdder {
 public:
  EventAdder(const ir::Graph& graph, const MeasuredTimeline& timeline,
             ChromeEvents& events)
      : graph_(graph),
        data_(graph.data()),
        timeline_(timeline),
        devices_(NumberDevices(graph.data())),
        tracks_(NameTracks(graph, timeline.processes, TrackNames::kRecorded,
                           events)),
        events_(events) {}

  void Run() {
    MarkSteps();
    for (const OpId id : data_.ops.ids()) {
      AddOp(id);
    }
    for (const CallId id : data_.calls.ids()) {
      AddCall(id);
    }
    for (const ActivityId id : data_.activities.ids()) {
      AddActivity(id);
    }
  }

 private:
  RankId RankOf(const ir::Op& op) const { return RankOfItem(data_, op); }
  RankId RankOf(const ir::Call& call) const { return RankOfItem(data_, call); }
  RankId RankOf(const ir::Activity& activity) const {
    return RankOfItem(data_, activity);
  }

  const Track& TrackOf(ThreadId thread) const {
    return tracks_.threads[thread.value];
  }
  const Track& TrackOf(StreamId stream) const {
    return tracks_.streams[stream.value];
  }

  Duration StartOf(RankId rank, const Measured& measured) const {
    return SharedTime(data_, rank, *measured.start) - timeline_.zero;
  }

  // The step's own range, on the main thread of every rank. Its index is before
  // that of all ops.
  void MarkSteps() {
    for (const ThreadId id : data_.threads.ids()) {
      const ir::Thread& thread = data_.threads[id];
      const auto& step = data_.ranks[thread.rank].step;
      if (thread.role != ir::ThreadRole::kMain || !ir::StartOf(step)) {
        continue;
      }
      const std::string name = fmt::format("ProfilerStep#{}", timeline_.step);
      events_.AddComplete({.name = name,
                           .category = "user_annotation",
                           .track = TrackOf(id),
                           .start = *step->start - timeline_.zero,
                           .duration = step->duration},
                          [](JsonWriter& json) { json.Key("Ev Idx").Int(0); });
    }
  }

  void WriteTensors(JsonWriter& json, std::string_view key,
                    IdRange<ir::TensorId> ids) const {
    if (ids.count == 0) {
      return;
    }
    json.Key(key).BeginArray();
    for (const ir::TensorId id : ids) {
      const ir::Tensor& tensor = data_.tensors[id];
      json.String(fmt::format("{}[{}]", ir::Name(tensor.dtype),
                              Join(tensor.dims, ",")));
    }
    json.EndArray();
  }

  // Ids of ops; calls have theirs after them, so that nobody takes an External
  // id for a correlation.
  static int64_t ExternalIdOf(OpId id) { return int64_t{id.value} + 1; }
  int64_t CorrelationOf(CallId id) const {
    return int64_t{data_.ops.size()} + int64_t{id.value} + 1;
  }

  void AddOp(OpId id) {
    const ir::Op& op = data_.ops[id];
    if (!ir::StartOf(op.measured)) {
      return;
    }
    const CompleteEvent event{
        .name = graph_.text(op.name),
        .category = op.kind == ir::OpKind::kOp ? "cpu_op" : "user_annotation",
        .track = TrackOf(op.thread),
        .start = StartOf(RankOf(op), *op.measured),
        .duration = op.measured->duration};
    events_.AddComplete(event, [&](JsonWriter& json) {
      json.Key("External id").Int(ExternalIdOf(id));
      json.Key("Ev Idx").Int(ExternalIdOf(id));
      if (op.sequence >= 0) {
        json.Key("Sequence number").Int(op.sequence);
      }
      WritePhase(json, op.phase);
      WriteTensors(json, "inputs", op.inputs);
      WriteTensors(json, "outputs", op.outputs);
    });
  }

  void AddCall(CallId id) {
    const ir::Call& call = data_.calls[id];
    if (!ir::StartOf(call.measured)) {
      return;
    }
    const CompleteEvent event{.name = graph_.text(call.name),
                              .category = "cuda_runtime",
                              .track = TrackOf(call.thread),
                              .start = StartOf(RankOf(call), *call.measured),
                              .duration = call.measured->duration};
    events_.AddComplete(event, [&](JsonWriter& json) {
      json.Key("correlation").Int(CorrelationOf(id));
      json.Key("kind").String(ir::Name(call.kind));
      if (call.stream.valid()) {
        json.Key("stream").Int(data_.streams[call.stream].number);
      }
    });
  }

  void AddActivity(ActivityId id) {
    const ir::Activity& activity = data_.activities[id];
    if (!ir::StartOf(activity.measured)) {
      return;
    }
    const CompleteEvent event{
        .name = graph_.text(activity.name),
        .category = CategoryOf(activity.kind),
        .track = TrackOf(activity.stream),
        .start = StartOf(RankOf(activity), *activity.measured),
        .duration = activity.measured->duration};
    events_.AddComplete(event,
                        [&](JsonWriter& json) { WriteActivityArgs(json, id); });
    if (activity.call.valid() &&
        ir::StartOf(data_.calls[activity.call].measured)) {
      const ir::Call& call = data_.calls[activity.call];
      events_.AddArrow(id.value,
                       {.track = TrackOf(call.thread),
                        .time = StartOf(RankOf(call), *call.measured)},
                       {.track = event.track, .time = event.start});
    }
  }

  void WriteActivityArgs(JsonWriter& json, ActivityId id) const {
    const ir::Activity& activity = data_.activities[id];
    const ir::Stream& stream = data_.streams[activity.stream];
    json.Key("device").Int(devices_.at({stream.rank, stream.device}));
    json.Key("stream").Int(stream.number);
    if (activity.call.valid()) {
      json.Key("correlation").Int(CorrelationOf(activity.call));
      const OpId op = data_.calls[activity.call].op;
      if (op.valid()) {
        json.Key("External id").Int(ExternalIdOf(op));
        WritePhase(json, data_.ops[op].phase);
      }
    }
    WriteShape(json, graph_.shape(id));
    if (activity.collective.valid()) {
      json.Key("collective").Int(activity.collective.value);
    }
  }

  const ir::Graph& graph_;
  const ir::GraphData& data_;
  const MeasuredTimeline& timeline_;
  const DeviceNumbers devices_;
  const Tracks tracks_;
  ChromeEvents& events_;
};

}  // namespace

std::string_view CategoryOf(ir::ActivityKind kind) {
  switch (kind) {
    case ir::ActivityKind::kMemcpy:
      return "gpu_memcpy";
    case ir::ActivityKind::kMemset:
      return "gpu_memset";
    case ir::ActivityKind::kKernel:
    case ir::ActivityKind::kCollective:
      break;
  }
  return "kernel";
}

Duration SharedTime(const ir::GraphData& data, ir::RankId rank, Duration time) {
  return time + ir::StartOf(data.ranks[rank].step).value_or(Duration{});
}

std::optional<Duration> FirstTime(const ir::GraphData& data) {
  std::optional<Duration> first;
  const auto visit = [&](const auto& items) {
    for (const auto& item : items) {
      if (const auto start = ir::StartOf(item.measured)) {
        const Duration time = SharedTime(data, RankOfItem(data, item), *start);
        first = first ? std::min(*first, time) : time;
      }
    }
  };
  visit(data.ops);
  visit(data.calls);
  visit(data.activities);
  for (const ir::Rank& rank : data.ranks) {
    const auto start = ir::StartOf(rank.step);
    if (first && start) {
      first = std::min(*first, *start);
    }
  }
  return first;
}

DeviceNumbers NumberDevices(const ir::GraphData& data) {
  DeviceNumbers devices;
  for (const ir::Stream& stream : data.streams) {
    devices.try_emplace({stream.rank, stream.device},
                        static_cast<int64_t>(devices.size()));
  }
  return devices;
}

Tracks NameTracks(const ir::Graph& graph, const RankProcesses& processes,
                  TrackNames names, ChromeEvents& events) {
  const ir::GraphData& data = graph.data();
  const auto recorded = [&](StringId name) -> std::string_view {
    return names == TrackNames::kRecorded ? graph.text(name) : "";
  };
  std::vector<int64_t> used(data.ranks.size());
  const auto next_track = [&](RankId rank) -> Track {
    return {.process = processes.Of(data.ranks[rank].number),
            .thread = ++used[rank.value]};
  };
  for (const ir::Rank& rank : data.ranks) {
    events.NameProcess(processes.Of(rank.number),
                       fmt::format("rank {}{}{}{}", rank.number,
                                   names == TrackNames::kRecorded ? " " : "",
                                   recorded(rank.gpu), processes.suffix));
  }
  Tracks tracks;
  for (const ir::Thread& thread : data.threads) {
    const std::string_view name = recorded(thread.name);
    tracks.threads.push_back(next_track(thread.rank));
    events.NameThread(tracks.threads.back(),
                      fmt::format("{} thread{}{}", ir::Name(thread.role),
                                  name.empty() ? "" : " ", name));
  }
  for (const ir::Stream& stream : data.streams) {
    tracks.streams.push_back(next_track(stream.rank));
    events.NameThread(tracks.streams.back(),
                      fmt::format("stream {}", stream.number));
  }
  return tracks;
}

void AddMeasuredEvents(const ir::Graph& graph, const MeasuredTimeline& timeline,
                       ChromeEvents& events) {
  EventAdder(graph, timeline, events).Run();
}

}  // namespace stepcast::view
