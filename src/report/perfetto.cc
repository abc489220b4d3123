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

namespace stepcast::report {
namespace {

using ir::CallId;
using ir::GraphData;
using ir::Measured;
using ir::OpId;
using ir::RankId;
using ir::StreamId;
using ir::ThreadId;
using ir::WorkId;

// A row of the timeline: a process and a thread of it.
struct Track {
  int64_t process = 0;
  int64_t thread = 0;
};

constexpr int kTimeDecimals = 3;  // Microseconds with their nanoseconds.

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
      WriteOp(id);
    }
    for (const CallId id : data_.calls.ids()) {
      WriteCall(id);
    }
    for (const WorkId id : data_.works.ids()) {
      WriteWork(id);
    }
    return fmt::format("{}\"traceEvents\": [\n{}\n]}}\n", Header(),
                       fmt::join(events_, ",\n"));
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

  // On the clock that all ranks share.
  Duration StartOf(RankId rank, const Measured& measured) const {
    const auto& step = data_.ranks[rank].step;
    return measured.start + (step ? step->start : Duration{});
  }

  // The earliest time becomes zero; false if there is none.
  bool FindStart() {
    std::optional<Duration> first;
    const auto visit = [&](const auto& items) {
      for (const auto& item : items) {
        if (item.measured) {
          const Duration start = StartOf(RankOf(item), *item.measured);
          first = first ? std::min(*first, start) : start;
        }
      }
    };
    for (const ir::Rank& rank : data_.ranks) {
      if (rank.step) {
        first = first ? std::min(*first, rank.step->start) : rank.step->start;
      }
    }
    visit(data_.ops);
    visit(data_.calls);
    visit(data_.works);
    start_ = first.value_or(Duration{});
    return first.has_value();
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
    for (const RankId id : data_.ranks.ids()) {
      const ir::Rank& rank = data_.ranks[id];
      WriteMetadata(
          "process_name", {.process = rank.number},
          fmt::format("rank {} {}", rank.number, graph_.text(rank.gpu)));
    }
    for (const ThreadId id : data_.threads.ids()) {
      const ir::Thread& thread = data_.threads[id];
      thread_tracks_.push_back(NextTrack(thread.rank, used));
      const std::string_view name = graph_.text(thread.name);
      WriteMetadata("thread_name", thread_tracks_.back(),
                    fmt::format("{} thread{}{}", ir::Name(thread.role),
                                name.empty() ? "" : " ", name));
    }
    for (const StreamId id : data_.streams.ids()) {
      const ir::Stream& stream = data_.streams[id];
      stream_tracks_.push_back(NextTrack(stream.rank, used));
      devices_.try_emplace({stream.rank, stream.device},
                           static_cast<int64_t>(devices_.size()));
      WriteMetadata("thread_name", stream_tracks_.back(),
                    fmt::format("stream {}", stream.number));
    }
  }

  // The step's own range, on the main thread of every rank. Its index is before
  // that of all ops.
  void MarkSteps() {
    for (const ThreadId id : data_.threads.ids()) {
      const ir::Thread& thread = data_.threads[id];
      const ir::Rank& rank = data_.ranks[thread.rank];
      if (thread.role != ir::ThreadRole::kMain || !rank.step) {
        continue;
      }
      JsonWriter json = BeginComplete(
          fmt::format("ProfilerStep#{}", step_), "user_annotation",
          thread_tracks_[id.value], thread.rank,
          {.start = {}, .duration = rank.step->duration});
      json.Key("Ev Idx").Int(0);
      json.EndObject();
      Finish(json);
    }
  }

  Track NextTrack(RankId rank, std::vector<int64_t>& used) const {
    return {.process = data_.ranks[rank].number, .thread = ++used[rank.value]};
  }

  void WriteMetadata(std::string_view name, const Track& track,
                     std::string_view label) {
    JsonWriter json = Begin("M", name, track);
    json.Key("ts").Int(0);
    json.Key("args").BeginObject().Key("name").String(label).EndObject();
    Finish(json);
    // Shown in this order, not in that of names.
    const bool is_process = name == "process_name";
    JsonWriter order = Begin(
        "M", is_process ? "process_sort_index" : "thread_sort_index", track);
    order.Key("ts").Int(0);
    order.Key("args").BeginObject();
    order.Key("sort_index").Int(is_process ? track.process : track.thread);
    order.EndObject();
    Finish(order);
  }

  static JsonWriter Begin(std::string_view phase, std::string_view name,
                          const Track& track) {
    JsonWriter json(JsonWriter::Style::kCompact);
    json.BeginObject();
    json.Key("ph").String(phase);
    json.Key("name").String(name);
    json.Key("pid").Int(track.process);
    json.Key("tid").Int(track.thread);
    return json;
  }

  void Finish(JsonWriter& json) {
    json.EndObject();
    events_.push_back(json.Take());
  }

  JsonWriter BeginComplete(std::string_view name, std::string_view category,
                           const Track& track, RankId rank,
                           const Measured& measured) const {
    JsonWriter json = Begin("X", name, track);
    json.Key("cat").String(category);
    json.Key("ts").Fixed(ToMicroseconds(StartOf(rank, measured) - start_),
                         kTimeDecimals);
    json.Key("dur").Fixed(ToMicroseconds(measured.duration), kTimeDecimals);
    json.Key("args").BeginObject();
    return json;
  }

  std::string TensorText(const ir::Tensor& tensor) const {
    return fmt::format("{}[{}]", ir::Name(tensor.dtype),
                       fmt::join(tensor.dims, ","));
  }

  void WriteTensors(JsonWriter& json, std::string_view key,
                    IdRange<ir::TensorId> ids) const {
    if (ids.count == 0) {
      return;
    }
    json.Key(key).BeginArray();
    for (const ir::TensorId id : ids) {
      json.String(TensorText(data_.tensors[id]));
    }
    json.EndArray();
  }

  void WriteOp(OpId id) {
    const ir::Op& op = data_.ops[id];
    if (!op.measured) {
      return;
    }
    JsonWriter json = BeginComplete(
        graph_.text(op.name),
        op.kind == ir::OpKind::kOp ? "cpu_op" : "user_annotation",
        thread_tracks_[op.thread.value], RankOf(op), *op.measured);
    json.Key("External id").Int(int64_t{id.value} + 1);
    json.Key("Ev Idx").Int(int64_t{id.value} + 1);
    if (op.sequence >= 0) {
      json.Key("Sequence number").Int(op.sequence);
    }
    json.Key("phase").String(ir::Name(op.phase));
    WriteTensors(json, "inputs", op.inputs);
    WriteTensors(json, "outputs", op.outputs);
    json.EndObject();
    Finish(json);
  }

  void WriteCall(CallId id) {
    const ir::Call& call = data_.calls[id];
    if (!call.measured) {
      return;
    }
    JsonWriter json = BeginComplete(graph_.text(call.name), "cuda_runtime",
                                    thread_tracks_[call.thread.value],
                                    RankOf(call), *call.measured);
    json.Key("correlation").Int(int64_t{id.value} + 1);
    json.Key("kind").String(ir::Name(call.kind));
    if (call.stream.valid()) {
      json.Key("stream").Int(data_.streams[call.stream].number);
    }
    json.EndObject();
    Finish(json);
  }

  static std::string_view CategoryOf(ir::WorkKind kind) {
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

  void WriteWork(WorkId id) {
    const ir::Work& work = data_.works[id];
    if (!work.measured) {
      return;
    }
    const Track& track = stream_tracks_[work.stream.value];
    const RankId rank = RankOf(work);
    JsonWriter json =
        BeginComplete(graph_.text(work.name), CategoryOf(work.kind), track,
                      rank, *work.measured);
    const ir::Stream& stream = data_.streams[work.stream];
    json.Key("device").Int(devices_.at({rank, stream.device}));
    json.Key("stream").Int(stream.number);
    if (work.call.valid()) {
      json.Key("correlation").Int(int64_t{work.call.value} + 1);
      const ir::Call& call = data_.calls[work.call];
      if (call.op.valid()) {
        json.Key("External id").Int(int64_t{call.op.value} + 1);
        json.Key("phase").String(ir::Name(data_.ops[call.op].phase));
      }
    }
    WriteShape(json, graph_.shape(id));
    if (work.collective.valid()) {
      json.Key("collective").Int(work.collective.value);
    }
    json.EndObject();
    Finish(json);
    WriteArrow(id);
  }

  static void WriteShape(JsonWriter& json, const ir::KernelShape& shape) {
    json.Key("shape").String(ir::ShapeText(shape));
    if (const auto* copy = std::get_if<ir::Copy>(&shape)) {
      json.Key("bytes").Int(copy->bytes.count);
    } else if (const auto* fill = std::get_if<ir::Fill>(&shape)) {
      json.Key("bytes").Int(fill->bytes.count);
    }
  }

  // From the call to the work that it launched; a captured graph's call has one
  // to each of its works.
  void WriteArrow(WorkId id) {
    const ir::Work& work = data_.works[id];
    if (!work.call.valid() || !data_.calls[work.call].measured) {
      return;
    }
    const ir::Call& call = data_.calls[work.call];
    WriteArrowEnd("s", id, thread_tracks_[call.thread.value],
                  StartOf(RankOf(call), *call.measured));
    WriteArrowEnd("f", id, stream_tracks_[work.stream.value],
                  StartOf(RankOf(work), *work.measured));
  }

  void WriteArrowEnd(std::string_view phase, WorkId id, const Track& track,
                     Duration time) {
    JsonWriter json = Begin(phase, "ac2g", track);
    json.Key("cat").String("ac2g");
    json.Key("id").Int(id.value);
    json.Key("ts").Fixed(ToMicroseconds(time - start_), kTimeDecimals);
    if (phase == "f") {
      json.Key("bp").String("e");
    }
    Finish(json);
  }

  const ir::Graph& graph_;
  const GraphData& data_;
  int64_t step_ = 0;
  Duration start_{};
  // Devices of all ranks, numbered in order: each rank may call its own 0.
  std::map<std::pair<RankId, int64_t>, int64_t> devices_;
  std::vector<Track> thread_tracks_;
  std::vector<Track> stream_tracks_;
  std::vector<std::string> events_;
};

}  // namespace

Result<std::string> PerfettoJson(const ir::Graph& graph, int64_t step) {
  return TimelineWriter(graph, step).Write();
}

}  // namespace stepcast::report
