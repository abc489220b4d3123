#include "report/perfetto.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/json_write.h"
#include "ir/names.h"
#include "report/chrome_events.h"

namespace stepcast::report {
namespace {

using ir::CallId;
using ir::Measured;
using ir::OpId;
using ir::RankId;
using ir::StreamId;
using ir::ThreadId;
using ir::WorkId;

std::string_view CategoryOf(ir::WorkKind kind) {
  switch (kind) {
    case ir::WorkKind::kMemcpy:
      return "gpu_memcpy";
    case ir::WorkKind::kMemset:
      return "gpu_memset";
    case ir::WorkKind::kKernel:
    case ir::WorkKind::kCollective:
      break;
  }
  return "kernel";
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

class TimelineWriter {
 public:
  TimelineWriter(const ir::Graph& graph, int64_t step)
      : graph_(graph), data_(graph.data()), step_(step) {}

  Result<std::string> Write() {
    if (!FindStart()) {
      return Fail(ErrorCode::kUnsupported,
                  "the graph has no measured times to draw; expected one from "
                  "a profiler trace");
    }
    NameTracks();
    MarkSteps();
    for (const OpId id : data_.ops.ids()) {
      AddOp(id);
    }
    for (const CallId id : data_.calls.ids()) {
      AddCall(id);
    }
    for (const WorkId id : data_.works.ids()) {
      AddWork(id);
    }
    return fmt::format("{}\"traceEvents\": {}}}\n", Header(),
                       events_.ToString());
  }

 private:
  RankId RankOf(const ir::Op& op) const {
    return data_.threads[op.thread].rank;
  }
  RankId RankOf(const ir::Call& call) const {
    return data_.threads[call.thread].rank;
  }
  RankId RankOf(const ir::Work& work) const {
    return data_.streams[work.stream].rank;
  }

  const Track& TrackOf(ThreadId thread) const {
    return thread_tracks_[thread.value];
  }
  const Track& TrackOf(StreamId stream) const {
    return stream_tracks_[stream.value];
  }

  // On the clock that all ranks share.
  Duration StartOf(RankId rank, const Measured& measured) const {
    const auto offset = ir::StartOf(data_.ranks[rank].step);
    return *measured.start + offset.value_or(Duration{}) - zero_;
  }

  // The earliest time becomes zero; false if nothing has a time.
  bool FindStart() {
    std::optional<Duration> first;
    bool any = false;
    const auto visit = [&](const auto& items) {
      for (const auto& item : items) {
        if (ir::StartOf(item.measured)) {
          const Duration start = StartOf(RankOf(item), *item.measured);
          first = first ? std::min(*first, start) : start;
          any = true;
        }
      }
    };
    for (const ir::Rank& rank : data_.ranks) {
      if (const auto start = ir::StartOf(rank.step)) {
        first = first ? std::min(*first, *start) : *start;
      }
    }
    visit(data_.ops);
    visit(data_.calls);
    visit(data_.works);
    zero_ = first.value_or(Duration{});
    return any;
  }

  std::string Header() const {
    JsonWriter json(JsonWriter::Style::kCompact);
    json.BeginArray();
    for (const auto& [key, number] : devices_) {
      json.BeginObject();
      json.Key("id").Int(number);
      json.Key("name").String(graph_.text(data_.ranks[key.first].gpu));
      json.EndObject();
    }
    json.EndArray();
    std::string header = fmt::format(
        "{{\"schemaVersion\": 1, \"displayTimeUnit\": \"ms\",\n"
        "\"deviceProperties\": {},\n",
        json.Take());
    if (data_.ranks.size() == 1) {
      header += fmt::format("\"distributedInfo\": {{\"rank\": {}}},\n",
                            data_.ranks.items().front().number);
    }
    return header;
  }

  // Threads first, then streams, numbered from 1 in every rank.
  void NameTracks() {
    std::vector<int64_t> used(data_.ranks.size());
    const auto next_track = [&](RankId rank) -> Track {
      return {.process = data_.ranks[rank].number,
              .thread = ++used[rank.value]};
    };
    for (const ir::Rank& rank : data_.ranks) {
      events_.NameProcess(rank.number, fmt::format("rank {} {}", rank.number,
                                                   graph_.text(rank.gpu)));
    }
    for (const ir::Thread& thread : data_.threads) {
      thread_tracks_.push_back(next_track(thread.rank));
      const std::string_view name = graph_.text(thread.name);
      events_.NameThread(thread_tracks_.back(),
                         fmt::format("{} thread{}{}", ir::Name(thread.role),
                                     name.empty() ? "" : " ", name));
    }
    for (const ir::Stream& stream : data_.streams) {
      stream_tracks_.push_back(next_track(stream.rank));
      events_.NameThread(stream_tracks_.back(),
                         fmt::format("stream {}", stream.number));
      devices_.try_emplace({stream.rank, stream.device},
                           static_cast<int64_t>(devices_.size()));
    }
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
      const std::string name = fmt::format("ProfilerStep#{}", step_);
      events_.AddComplete({.name = name,
                           .category = "user_annotation",
                           .track = TrackOf(id),
                           .start = *step->start - zero_,
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
                              fmt::join(tensor.dims, ",")));
    }
    json.EndArray();
  }

  // Ids of ops; calls have theirs behind them, so that nobody takes an External
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

  void AddWork(WorkId id) {
    const ir::Work& work = data_.works[id];
    if (!ir::StartOf(work.measured)) {
      return;
    }
    const CompleteEvent event{.name = graph_.text(work.name),
                              .category = CategoryOf(work.kind),
                              .track = TrackOf(work.stream),
                              .start = StartOf(RankOf(work), *work.measured),
                              .duration = work.measured->duration};
    events_.AddComplete(event,
                        [&](JsonWriter& json) { WriteWorkArgs(json, id); });
    if (work.call.valid() && ir::StartOf(data_.calls[work.call].measured)) {
      const ir::Call& call = data_.calls[work.call];
      events_.AddArrow(id.value,
                       {.track = TrackOf(call.thread),
                        .time = StartOf(RankOf(call), *call.measured)},
                       {.track = event.track, .time = event.start});
    }
  }

  void WriteWorkArgs(JsonWriter& json, WorkId id) const {
    const ir::Work& work = data_.works[id];
    const ir::Stream& stream = data_.streams[work.stream];
    json.Key("device").Int(devices_.at({stream.rank, stream.device}));
    json.Key("stream").Int(stream.number);
    if (work.call.valid()) {
      json.Key("correlation").Int(CorrelationOf(work.call));
      const OpId op = data_.calls[work.call].op;
      if (op.valid()) {
        json.Key("External id").Int(ExternalIdOf(op));
        WritePhase(json, data_.ops[op].phase);
      }
    }
    WriteShape(json, graph_.shape(id));
    if (work.collective.valid()) {
      json.Key("collective").Int(work.collective.value);
    }
  }

  const ir::Graph& graph_;
  const ir::GraphData& data_;
  int64_t step_ = 0;
  Duration zero_{};
  // Devices of all ranks, numbered in order: each rank may call its own 0.
  std::map<std::pair<RankId, int64_t>, int64_t> devices_;
  std::vector<Track> thread_tracks_;
  std::vector<Track> stream_tracks_;
  ChromeEvents events_;
};

}  // namespace

Result<std::string> PerfettoJson(const ir::Graph& graph, int64_t step) {
  return TimelineWriter(graph, step).Write();
}

}  // namespace stepcast::report
