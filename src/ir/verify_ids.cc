// Every id that one part of a graph holds names an existing other part.
#include <tuple>
#include <vector>

#include "ir/names.h"
#include "ir/shape_set.h"
#include "ir/verify_parts.h"

namespace stepcast::ir {

// The rules for ranks, threads, ops and calls.

namespace {

Status VerifyRanks(const GraphData& data) {
  for (const RankId id : data.ranks.ids()) {
    RETURN_IF_ERROR(VerifyTime(data, id, data.ranks[id].step));
    if (id.value == 0) {
      continue;
    }
    const int64_t before = data.ranks[RankId{id.value - 1}].number;
    if (data.ranks[id].number <= before) {
      return Broken(data, id,
                    fmt::format("it follows rank {}; expected each once, in "
                                "order",
                                before));
    }
  }
  return {};
}

Status VerifyThreads(const GraphData& data) {
  const auto key = [&](ThreadId id) {
    const Thread& thread = data.threads[id];
    return std::tuple(thread.rank, thread.role, data.strings.view(thread.name));
  };
  for (const ThreadId id : data.threads.ids()) {
    if (id.value > 0 && key(id) < key(ThreadId{id.value - 1})) {
      return Broken(data, id, "not in the order of rank, role and name");
    }
  }
  return {};
}

// Walks the ops in order and keeps those that are open, as in a nest of calls.
class OpWalk {
 public:
  explicit OpWalk(const GraphData& data)
      : data_(data), child_order_(data.ops.size()) {}

  Status Visit(OpId id) {
    const Op& op = data_.ops[id];
    RETURN_IF_ERROR(VerifyTime(data_, id, op.measured));
    if (thread_ != op.thread) {
      if (thread_.valid() && op.thread < thread_) {
        return Broken(data_, id, "not in the order of threads");
      }
      thread_ = op.thread;
      open_.clear();
      top_order_.Restart();
    }
    RETURN_IF_ERROR(Nest(id, op));
    StartOrder& siblings =
        op.parent.valid() ? child_order_[op.parent] : top_order_;
    if (!siblings.Accepts(op.measured)) {
      return Broken(data_, id, "it starts before a sibling in front of it");
    }
    return VerifyTensors(id, op);
  }

  Status Finish() const {
    if (next_tensor_ != data_.tensors.size()) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("tensor {} belongs to no op", next_tensor_));
    }
    return {};
  }

 private:
  Status Nest(OpId id, const Op& op) {
    if (op.parent.valid()) {
      if (op.parent >= id) {
        return Broken(data_, id,
                      fmt::format("its parent is {}, which does not come "
                                  "before it",
                                  Describe(data_, op.parent)));
      }
      if (data_.ops[op.parent].thread != op.thread) {
        return Broken(data_, id,
                      fmt::format("its parent, {}, is on another thread",
                                  Describe(data_, op.parent)));
      }
    }
    while (!open_.empty() && open_.back() != op.parent) {
      open_.pop_back();
    }
    if (op.parent.valid() && open_.empty()) {
      return Broken(data_, id,
                    fmt::format("it does not follow {}, its parent, or an op "
                                "below that",
                                Describe(data_, op.parent)));
    }
    open_.push_back(id);
    return {};
  }

  Status VerifyTensors(OpId id, const Op& op) {
    for (const IdRange<TensorId> range : {op.inputs, op.outputs}) {
      if (range.first != next_tensor_) {
        return Broken(data_, id,
                      fmt::format("its tensors start at {}; expected {}",
                                  range.first, next_tensor_));
      }
      next_tensor_ += range.count;
    }
    return {};
  }

  const GraphData& data_;
  std::vector<OpId> open_;
  ThreadId thread_{};
  IdVector<OpId, StartOrder> child_order_;
  StartOrder top_order_;
  uint32_t next_tensor_ = 0;
};

Status VerifyOps(const GraphData& data) {
  OpWalk walk(data);
  for (const OpId id : data.ops.ids()) {
    RETURN_IF_ERROR(walk.Visit(id));
  }
  return walk.Finish();
}

bool MayHaveEvent(CallKind kind) {
  return kind == CallKind::kStreamWait || kind == CallKind::kEventSync;
}

Status VerifyEvent(const GraphData& data, CallId id) {
  const Call& call = data.calls[id];
  if (!call.event.valid()) {
    return {};
  }
  const Call& event = data.calls[call.event];
  if (!MayHaveEvent(call.kind)) {
    return Broken(
        data, id,
        fmt::format("a call of kind {} waits for no event", Name(call.kind)));
  }
  if (event.kind != CallKind::kEventRecord) {
    return Broken(
        data, id,
        fmt::format("its event, {}, records none", Describe(data, call.event)));
  }
  if (data.threads[event.thread].rank != data.threads[call.thread].rank) {
    return Broken(data, id,
                  fmt::format("its event, {}, is on another rank",
                              Describe(data, call.event)));
  }
  return {};
}

Status VerifyCall(const GraphData& data, CallId id) {
  const Call& call = data.calls[id];
  RETURN_IF_ERROR(VerifyTime(data, id, call.measured));
  if (call.op.valid() && data.ops[call.op].thread != call.thread) {
    return Broken(data, id,
                  fmt::format("its op, {}, is on another thread",
                              Describe(data, call.op)));
  }
  if (call.stream.valid() &&
      data.streams[call.stream].rank != data.threads[call.thread].rank) {
    return Broken(data, id,
                  fmt::format("its stream is {}, on another rank",
                              Describe(data, call.stream)));
  }
  return VerifyEvent(data, id);
}

Status VerifyCalls(const GraphData& data) {
  ThreadId thread{};
  StartOrder order;
  for (const CallId id : data.calls.ids()) {
    RETURN_IF_ERROR(VerifyCall(data, id));
    const Call& call = data.calls[id];
    if (thread != call.thread) {
      if (thread.valid() && call.thread < thread) {
        return Broken(data, id, "not in the order of threads");
      }
      thread = call.thread;
      order.Restart();
    }
    if (!order.Accepts(call.measured)) {
      return Broken(data, id, "it starts before a call in front of it");
    }
  }
  return {};
}

}  // namespace

Status VerifyHost(const GraphData& data) {
  RETURN_IF_ERROR(VerifyRanks(data));
  RETURN_IF_ERROR(VerifyThreads(data));
  RETURN_IF_ERROR(VerifyOps(data));
  return VerifyCalls(data);
}

// The rules for streams, shapes and activities.

namespace {

Status VerifyStreams(const GraphData& data) {
  const auto key = [&](StreamId id) {
    const Stream& stream = data.streams[id];
    return std::tuple(stream.rank, stream.device, stream.number);
  };
  for (const StreamId id : data.streams.ids()) {
    if (id.value > 0 && key(id) <= key(StreamId{id.value - 1})) {
      return Broken(data, id,
                    fmt::format("it follows {}; expected each once, in "
                                "order",
                                Describe(data, StreamId{id.value - 1})));
    }
  }
  return {};
}

Status VerifyShapes(const GraphData& data) {
  ShapeSet seen;
  for (const ShapeId id : data.shapes.ids()) {
    const ShapeId first = seen.Insert(data.shapes[id]);
    if (first != id) {
      return Fail(
          ErrorCode::kInvalidInput,
          fmt::format("shape {}: it equals shape {}", id.value, first.value));
    }
  }
  return {};
}

Status VerifyActivity(const GraphData& data, ActivityId id) {
  const Activity& activity = data.activities[id];
  RETURN_IF_ERROR(VerifyTime(data, id, activity.measured));
  if (!activity.call.valid()) {
    return {};
  }
  const RankId caller = data.threads[data.calls[activity.call].thread].rank;
  if (caller != data.streams[activity.stream].rank) {
    return Broken(
        data, id,
        fmt::format("it is on {}, but was launched on {}",
                    Describe(data, activity.stream), Describe(data, caller)));
  }
  return {};
}

Status VerifyActivities(const GraphData& data) {
  StreamId stream{};
  StartOrder order;
  for (const ActivityId id : data.activities.ids()) {
    RETURN_IF_ERROR(VerifyActivity(data, id));
    const Activity& activity = data.activities[id];
    if (stream != activity.stream) {
      if (stream.valid() && activity.stream < stream) {
        return Broken(data, id, "not in the order of streams");
      }
      stream = activity.stream;
      order.Restart();
    }
    if (!order.Accepts(activity.measured)) {
      return Broken(data, id,
                    "it starts before an earlier activity of its stream");
    }
  }
  return {};
}

}  // namespace

Status VerifyDevice(const GraphData& data) {
  RETURN_IF_ERROR(VerifyStreams(data));
  RETURN_IF_ERROR(VerifyShapes(data));
  return VerifyActivities(data);
}

namespace {

enum class Presence { kRequired, kOptional };

// Checks the ids that one thing holds.
template <typename Owner>
class IdsOf {
 public:
  IdsOf(const GraphData& data, Owner owner) : data_(data), owner_(owner) {}

  template <typename IdType>
  IdsOf& Has(std::string_view what, IdType id, uint32_t size,
             Presence presence = Presence::kRequired) {
    const bool absent = !id.valid() && presence == Presence::kOptional;
    if (status_ && !absent && id.value >= size) {
      status_ = Broken(data_, owner_,
                       id.valid() ? fmt::format("its {} is number {} of {}",
                                                what, id.value, size)
                                  : fmt::format("it has no {}", what));
    }
    return *this;
  }

  Status status() { return std::move(status_); }

 private:
  const GraphData& data_;
  Owner owner_;
  Status status_;
};

Status VerifyRanksAndStreams(const GraphData& data) {
  const uint32_t strings = data.strings.size();
  if (data.source.value >= strings) {
    return Fail(ErrorCode::kInvalidInput, "the graph's source has no text");
  }
  for (const RankId id : data.ranks.ids()) {
    RETURN_IF_ERROR(IdsOf(data, id)
                        .Has("gpu's text", data.ranks[id].gpu, strings)
                        .status());
  }
  for (const ThreadId id : data.threads.ids()) {
    RETURN_IF_ERROR(IdsOf(data, id)
                        .Has("name's text", data.threads[id].name, strings)
                        .Has("rank", data.threads[id].rank, data.ranks.size())
                        .status());
  }
  for (const StreamId id : data.streams.ids()) {
    RETURN_IF_ERROR(IdsOf(data, id)
                        .Has("rank", data.streams[id].rank, data.ranks.size())
                        .status());
  }
  return {};
}

bool InBounds(IdRange<TensorId> range, uint32_t size) {
  return uint64_t{range.first} + range.count <= size;
}

Status VerifyOpIds(const GraphData& data) {
  for (const OpId id : data.ops.ids()) {
    const Op& op = data.ops[id];
    RETURN_IF_ERROR(
        IdsOf(data, id)
            .Has("name's text", op.name, data.strings.size())
            .Has("modules' text", op.modules, data.strings.size())
            .Has("site's text", op.site, data.strings.size())
            .Has("thread", op.thread, data.threads.size())
            .Has("parent", op.parent, data.ops.size(), Presence::kOptional)
            .status());
    if (!InBounds(op.inputs, data.tensors.size()) ||
        !InBounds(op.outputs, data.tensors.size())) {
      return Broken(data, id,
                    fmt::format("its tensors lie beyond the {} there are",
                                data.tensors.size()));
    }
  }
  return {};
}

Status VerifyCallIds(const GraphData& data) {
  for (const CallId id : data.calls.ids()) {
    const Call& call = data.calls[id];
    RETURN_IF_ERROR(
        IdsOf(data, id)
            .Has("name's text", call.name, data.strings.size())
            .Has("thread", call.thread, data.threads.size())
            .Has("op", call.op, data.ops.size(), Presence::kOptional)
            .Has("stream", call.stream, data.streams.size(),
                 Presence::kOptional)
            .Has("event", call.event, data.calls.size(), Presence::kOptional)
            .status());
  }
  return {};
}

Status VerifyActivityIds(const GraphData& data) {
  for (const ActivityId id : data.activities.ids()) {
    const Activity& activity = data.activities[id];
    RETURN_IF_ERROR(
        IdsOf(data, id)
            .Has("name's text", activity.name, data.strings.size())
            .Has("shape", activity.shape, data.shapes.size())
            .Has("stream", activity.stream, data.streams.size())
            .Has("call", activity.call, data.calls.size(), Presence::kOptional)
            .Has("collective", activity.collective, data.collectives.size(),
                 Presence::kOptional)
            .status());
  }
  return {};
}

tl::unexpected<Error> NoSuch(std::string_view owner, std::string_view what,
                             uint32_t value, uint32_t size) {
  return Fail(ErrorCode::kInvalidInput,
              fmt::format("{}: its {} is number {} of {}", owner, what,
                          static_cast<int32_t>(value), size));
}

}  // namespace

Status VerifyIds(const GraphData& data) {
  RETURN_IF_ERROR(VerifyRanksAndStreams(data));
  RETURN_IF_ERROR(VerifyOpIds(data));
  RETURN_IF_ERROR(VerifyCallIds(data));
  RETURN_IF_ERROR(VerifyActivityIds(data));
  const uint32_t activities = data.activities.size();
  for (const CollectiveId id : data.collectives.ids()) {
    for (const ActivityId activity : data.collectives[id].activities) {
      RETURN_IF_ERROR(
          IdsOf(data, id).Has("activity", activity, activities).status());
    }
  }
  for (const StreamWait& wait : data.stream_waits) {
    for (const ActivityId activity : {wait.before, wait.after}) {
      if (activity.value >= activities) {
        return NoSuch("a stream wait", "activity", activity.value, activities);
      }
    }
  }
  for (const HostWait& wait : data.host_waits) {
    if (wait.before.value >= activities) {
      return NoSuch("a host wait", "activity", wait.before.value, activities);
    }
    if (wait.call.value >= data.calls.size()) {
      return NoSuch("a host wait", "call", wait.call.value, data.calls.size());
    }
  }
  return {};
}

}  // namespace stepcast::ir
