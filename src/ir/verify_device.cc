// The rules for streams, shapes and works.
#include <tuple>

#include "ir/shape_set.h"
#include "ir/verify_parts.h"

namespace stepcast::ir {
namespace {

Status VerifyStreams(const GraphData& data) {
  const auto key = [&](StreamId id) {
    const Stream& stream = data.streams[id];
    return std::tuple(stream.rank, stream.device, stream.number);
  };
  for (const StreamId id : data.streams.ids()) {
    if (id.value > 0 && key(id) <= key(StreamId{id.value - 1})) {
      return Broken(data, id,
                    fmt::format("it stands behind {}; expected each once, in "
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

Status VerifyWork(const GraphData& data, WorkId id) {
  const Work& work = data.works[id];
  RETURN_IF_ERROR(VerifyTime(data, id, work.measured));
  if (!work.call.valid()) {
    return {};
  }
  const RankId caller = data.threads[data.calls[work.call].thread].rank;
  if (caller != data.streams[work.stream].rank) {
    return Broken(
        data, id,
        fmt::format("it is on {}, but was launched on {}",
                    Describe(data, work.stream), Describe(data, caller)));
  }
  return {};
}

Status VerifyWorks(const GraphData& data) {
  StreamId stream{};
  StartOrder order;
  for (const WorkId id : data.works.ids()) {
    RETURN_IF_ERROR(VerifyWork(data, id));
    const Work& work = data.works[id];
    if (stream != work.stream) {
      if (stream.valid() && work.stream < stream) {
        return Broken(data, id, "not in the order of streams");
      }
      stream = work.stream;
      order.Restart();
    }
    if (!order.Accepts(work.measured)) {
      return Broken(data, id,
                    "it starts before a work in front of it on its stream");
    }
  }
  return {};
}

}  // namespace

Status VerifyDevice(const GraphData& data) {
  RETURN_IF_ERROR(VerifyStreams(data));
  RETURN_IF_ERROR(VerifyShapes(data));
  return VerifyWorks(data);
}

}  // namespace stepcast::ir
