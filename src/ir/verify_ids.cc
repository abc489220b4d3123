// Every id that one part of a graph holds names an existing other part.
#include "ir/verify_parts.h"

namespace stepcast::ir {
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

Status VerifyWorkIds(const GraphData& data) {
  for (const WorkId id : data.works.ids()) {
    const Work& work = data.works[id];
    RETURN_IF_ERROR(
        IdsOf(data, id)
            .Has("name's text", work.name, data.strings.size())
            .Has("shape", work.shape, data.shapes.size())
            .Has("stream", work.stream, data.streams.size())
            .Has("call", work.call, data.calls.size(), Presence::kOptional)
            .Has("collective", work.collective, data.collectives.size(),
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
  RETURN_IF_ERROR(VerifyWorkIds(data));
  const uint32_t works = data.works.size();
  for (const CollectiveId id : data.collectives.ids()) {
    for (const WorkId work : data.collectives[id].works) {
      RETURN_IF_ERROR(IdsOf(data, id).Has("work", work, works).status());
    }
  }
  for (const StreamWait& wait : data.stream_waits) {
    for (const WorkId work : {wait.before, wait.after}) {
      if (work.value >= works) {
        return NoSuch("a stream wait", "work", work.value, works);
      }
    }
  }
  for (const HostWait& wait : data.host_waits) {
    if (wait.before.value >= works) {
      return NoSuch("a host wait", "work", wait.before.value, works);
    }
    if (wait.call.value >= data.calls.size()) {
      return NoSuch("a host wait", "call", wait.call.value, data.calls.size());
    }
  }
  return {};
}

}  // namespace stepcast::ir
