// The rules for ranks, threads, ops and calls.
#include <tuple>
#include <vector>

#include "ir/names.h"
#include "ir/verify_parts.h"

namespace stepcast::ir {
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
                    fmt::format("it stands behind rank {}; expected each once, "
                                "in order",
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

}  // namespace stepcast::ir
