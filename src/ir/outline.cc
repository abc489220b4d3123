#include "ir/outline.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text/text_table.h"
#include "ir/names.h"

namespace stepcast::ir {
namespace {

template <typename IdType, typename T>
std::string Named(const GraphData& data, std::string_view kind, IdType id,
                  const IdVector<IdType, T>& items) {
  if (id.value >= items.size() || items[id].name.value >= data.strings.size()) {
    return fmt::format("{} {}", kind, id.value);
  }
  const std::string_view name = data.strings.view(items[id].name);
  return fmt::format("{} {} '{}'", kind, id.value, ShownText(name));
}

}  // namespace

// A damaged file may have a word of megabytes.
std::string ShownText(std::string_view text) {
  // Long enough for most kernel names to be distinguished.
  constexpr size_t kShownWidth = 60;
  return Printable(ElideMiddle(text, kShownWidth));
}

std::string Describe(const GraphData& data, RankId id) {
  return id.value < data.ranks.size()
             ? fmt::format("rank {}", data.ranks[id].number)
             : fmt::format("rank id {}", id.value);
}

std::string Describe(const GraphData& data, ThreadId id) {
  return Named(data, "thread", id, data.threads);
}

std::string Describe(const GraphData& data, StreamId id) {
  if (id.value >= data.streams.size()) {
    return fmt::format("stream id {}", id.value);
  }
  const Stream& stream = data.streams[id];
  return fmt::format("stream {} on device {} of {}", stream.number,
                     stream.device, Describe(data, stream.rank));
}

std::string Describe(const GraphData& data, OpId id) {
  return Named(data, "op", id, data.ops);
}

std::string Describe(const GraphData& data, CallId id) {
  return Named(data, "call", id, data.calls);
}

std::string Describe(const GraphData& data, ActivityId id) {
  return Named(data, "activity", id, data.activities);
}

std::string Describe(const GraphData& data, CollectiveId id) {
  return id.value < data.collectives.size()
             ? fmt::format("collective {} ({})", id.value,
                           Name(data.collectives[id].kind))
             : fmt::format("collective {}", id.value);
}

namespace {

class Outliner {
 public:
  Outliner(const GraphData& data, IdRange<OpId> ops)
      : data_(data),
        first_op_(ops.first),
        next_op_(ops.first),
        end_op_(ops.first + ops.count),
        end_of_(ops.count),
        depth_of_(ops.count) {
    // In pre-order everything below an op follows it without gaps.
    for (uint32_t i = end_op_; i-- > first_op_;) {
      uint32_t& end = end_of_[i - first_op_];
      end = std::max(end, i + 1);
      if (const OpId parent = data.ops[OpId{i}].parent; parent.valid()) {
        uint32_t& parent_end = end_of_[parent.value - first_op_];
        parent_end = std::max(parent_end, end);
      }
    }
  }

  void PlaceCall(CallId id) {
    const Call& call = data_.calls[id];
    while (next_op_ < end_op_ && OpensBefore(call)) {
      OpenNext();
    }
    const bool placed = CloseUpTo(call.op);
    items_.push_back({.call = id,
                      .depth = static_cast<uint32_t>(open_.size()),
                      .misplaced = !placed});
  }

  std::vector<OutlineItem> Finish() && {
    while (next_op_ < end_op_) {
      OpenNext();
    }
    return std::move(items_);
  }

 private:
  uint32_t EndOf(OpId id) const { return end_of_[id.value - first_op_]; }

  // Whether the next op comes before `call`: it is the call's op or
  // around it, or it began earlier and leaves the call's op open.
  bool OpensBefore(const Call& call) const {
    if (call.op.valid()) {
      if (next_op_ <= call.op.value) {
        return true;
      }
      if (next_op_ >= EndOf(call.op)) {
        return false;
      }
    }
    const Op& next = data_.ops[OpId{next_op_}];
    const std::optional<Duration> op_start = StartOf(next.measured);
    const std::optional<Duration> call_start = StartOf(call.measured);
    return op_start && call_start && *op_start < *call_start;
  }

  void OpenNext() {
    const OpId id{next_op_++};
    while (!open_.empty() && open_.back() != data_.ops[id].parent) {
      open_.pop_back();
    }
    const auto depth = static_cast<uint32_t>(open_.size());
    depth_of_[id.value - first_op_] = depth;
    items_.push_back({.op = id, .depth = depth});
    open_.push_back(id);
  }

  // Closes ops until `op` is the innermost one open (none, if it is not valid).
  // Does nothing and returns false if that cannot be: `op` is closed already,
  // or another inside it has ops still to come.
  bool CloseUpTo(OpId op) {
    size_t keep = 0;
    if (op.valid()) {
      const uint32_t depth = depth_of_[op.value - first_op_];
      if (depth >= open_.size() || open_[depth] != op) {
        return false;
      }
      keep = size_t{depth} + 1;
    }
    // The outermost op to be closed ends last.
    if (keep < open_.size() && EndOf(open_[keep]) > next_op_) {
      return false;
    }
    open_.resize(keep);
    return true;
  }

  const GraphData& data_;
  uint32_t first_op_;
  uint32_t next_op_;  // The first that is not yet in items_.
  uint32_t end_op_;
  std::vector<uint32_t> end_of_;    // Of each op: after the last one below it.
  std::vector<uint32_t> depth_of_;  // Of each op in items_.
  std::vector<OpId> open_;
  std::vector<OutlineItem> items_;
};

}  // namespace

std::vector<OutlineItem> Outline(const GraphData& data, IdRange<OpId> ops,
                                 IdRange<CallId> calls) {
  Outliner outliner(data, ops);
  for (const CallId id : calls) {
    outliner.PlaceCall(id);
  }
  return std::move(outliner).Finish();
}

}  // namespace stepcast::ir
