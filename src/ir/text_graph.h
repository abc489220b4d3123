// A graph as its text gives it: parts that name each other by labels, and works
// with the place they take on their stream.
#ifndef STEPCAST_IR_TEXT_GRAPH_H_
#define STEPCAST_IR_TEXT_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/graph_builder.h"
#include "ir/shape_set.h"

namespace stepcast::ir {

/// A label where it is defined or used; empty if there is none.
struct TextLabel {
  std::string_view name{};  // Without '#'.
  size_t line = 0;
};

struct TextWait {
  TextLabel before{};
  TextLabel after{};  // A work or a call.
  bool inferred = false;
};

struct TextCollective {
  CollectiveKind kind = CollectiveKind::kUnknown;
  std::vector<TextLabel> works{};
};

/// Collects parts in the order of the text and resolves at the end what they
/// say of each other, which may come later than they do.
class TextGraph {
 public:
  /// For what needs no label: strings, ranks, threads, streams, ops.
  GraphBuilder& builder() { return builder_; }

  void DefineOp(TextLabel label, OpId id);

  /// `event` and `op` are used unless they are empty.
  CallId AddCall(const Call& call, TextLabel label, TextLabel event,
                 TextLabel op);

  /// The work takes that place on its stream or, if none is given, the one
  /// behind the work added before it. label.line must be set.
  void AddWork(const Work& work, const KernelShape& shape, TextLabel label,
               std::optional<uint32_t> place);

  void AddWait(const TextWait& wait) { waits_.push_back(wait); }
  void AddCollective(TextCollective collective) {
    collectives_.push_back(std::move(collective));
  }

  /// Errors begin with the line where that is known.
  Result<Graph> Build() &&;

 private:
  enum class Kind { kOp, kCall, kWork };
  struct Definition {
    TextLabel label;
    Kind kind = Kind::kOp;
    uint32_t index = 0;
  };
  struct PendingCall {
    Call call;
    TextLabel event;
    TextLabel op;
  };
  struct PendingWork {
    Work work;
    uint32_t place = 0;
    size_t line = 0;
  };
  struct StreamState {
    uint32_t works = 0;
    uint32_t next_place = 0;
  };

  static std::string_view KindName(Kind kind);
  void Define(TextLabel label, Kind kind, uint32_t index);
  Status SortDefinitions();
  Result<const Definition*> Find(TextLabel label) const;
  Result<uint32_t> Find(TextLabel label, Kind kind) const;
  Status BuildCalls();
  Status BuildWorks();
  Status BuildWaits();
  Status BuildCollectives();

  GraphBuilder builder_;
  ShapeSet shapes_;
  std::vector<Definition> definitions_;
  std::vector<PendingCall> calls_;
  std::vector<PendingWork> works_;
  std::vector<WorkId> work_ids_;  // Of works_, in the builder.
  IdVector<StreamId, StreamState> streams_;
  std::vector<TextWait> waits_;
  std::vector<TextCollective> collectives_;
};

}  // namespace stepcast::ir

#endif  // STEPCAST_IR_TEXT_GRAPH_H_
