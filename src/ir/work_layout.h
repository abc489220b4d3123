// Where works stand in the text form: below their calls, and numbered where the
// order of the lines does not tell the order on the stream.
#ifndef STEPCAST_IR_WORK_LAYOUT_H_
#define STEPCAST_IR_WORK_LAYOUT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace stepcast::ir {

class WorkLayout {
 public:
  explicit WorkLayout(const GraphData& data);

  /// The works that a call launched.
  std::span<const WorkId> of(CallId id) const {
    const uint32_t first = first_[id.value];
    return std::span(launched_).subspan(first, first_[id.value + 1] - first);
  }
  /// The works of a rank that no call launched; they stand behind its calls.
  const std::vector<WorkId>& orphans(RankId id) const { return orphans_[id]; }

  /// Whether a reader that takes the works in the order of the lines, and sorts
  /// them by start, would not get the order on the stream.
  bool is_numbered(StreamId id) const { return numbered_[id] != 0; }
  /// The place of a work on its stream.
  uint32_t number(WorkId id, StreamId stream) const {
    return id.value - first_on_stream_[stream];
  }

 private:
  void FindNumbered(const GraphData& data);

  std::vector<uint32_t> first_;  // Of each call, in launched_.
  std::vector<WorkId> launched_;
  IdVector<RankId, std::vector<WorkId>> orphans_;
  IdVector<StreamId, uint32_t> first_on_stream_;
  IdVector<StreamId, char> numbered_;
};

}  // namespace stepcast::ir

#endif  // STEPCAST_IR_WORK_LAYOUT_H_
