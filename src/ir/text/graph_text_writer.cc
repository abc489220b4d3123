// Writes a graph as text.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "ir/names.h"
#include "ir/outline.h"
#include "ir/text/graph_text.h"
#include "ir/text/shape_text.h"
#include "ir/text/text_atoms.h"
#include "ir/text/text_statements.h"

namespace stepcast::ir {
namespace {

// Where activities are in the text form: below their calls, and numbered where
// the order of the lines is not the order on the stream.

class ActivityLayout {
 public:
  explicit ActivityLayout(const GraphData& data);

  /// The activities that a call launched.
  std::span<const ActivityId> of(CallId id) const {
    const uint32_t first = first_[id.value];
    return std::span(launched_).subspan(first, first_[id.value + 1] - first);
  }
  /// The activities of a rank that no call launched; they stand after its
  /// calls.
  const std::vector<ActivityId>& orphans(RankId id) const {
    return orphans_[id];
  }

  /// Whether a reader that takes the activities in the order of the lines, and
  /// sorts them by start, would not get the order on the stream.
  bool is_numbered(StreamId id) const { return numbered_[id] != 0; }
  /// The place of an activity on its stream.
  uint32_t number(ActivityId id, StreamId stream) const {
    return id.value - first_on_stream_[stream];
  }

 private:
  void FindNumbered(const GraphData& data);

  std::vector<uint32_t> first_;  // Of each call, in launched_.
  std::vector<ActivityId> launched_;
  IdVector<RankId, std::vector<ActivityId>> orphans_;
  IdVector<StreamId, uint32_t> first_on_stream_;
  IdVector<StreamId, char> numbered_;
};

ActivityLayout::ActivityLayout(const GraphData& data)
    : first_(size_t{data.calls.size()} + 1),
      orphans_(data.ranks.size()),
      first_on_stream_(data.streams.size()),
      numbered_(data.streams.size(), 0) {
  for (const Activity& activity : data.activities) {
    if (activity.call.valid()) {
      ++first_[size_t{activity.call.value} + 1];
    }
  }
  for (size_t i = 1; i < first_.size(); ++i) {
    first_[i] += first_[i - 1];
  }
  launched_.resize(first_.back());
  std::vector<uint32_t> next = first_;
  for (const ActivityId id : data.activities.ids()) {
    const Activity& activity = data.activities[id];
    if (activity.call.valid()) {
      launched_[next[activity.call.value]++] = id;
    } else {
      orphans_[data.streams[activity.stream].rank].push_back(id);
    }
  }
  FindNumbered(data);
}

void ActivityLayout::FindNumbered(const GraphData& data) {
  // The place of each activity's line. The orphans of a rank stand after its
  // calls; other ranks do not matter, since a stream belongs to one.
  IdVector<ActivityId, uint32_t> line(data.activities.size());
  uint32_t next = 0;
  for (const ActivityId id : launched_) {
    line[id] = next++;
  }
  IdVector<StreamId, char> all_timed(data.streams.size(), 1);
  for (const ActivityId id : data.activities.ids()) {
    const Activity& activity = data.activities[id];
    if (!activity.call.valid()) {
      line[id] = next++;
    }
    if (!StartOf(activity.measured)) {
      all_timed[activity.stream] = 0;
    }
  }
  StreamId stream{};
  for (const ActivityId id : data.activities.ids()) {
    const Activity& activity = data.activities[id];
    if (activity.stream != stream) {
      stream = activity.stream;
      first_on_stream_[stream] = id.value;
      continue;
    }
    const ActivityId before{id.value - 1};
    const bool time_decides =
        all_timed[stream] != 0 &&
        data.activities[before].measured->start < activity.measured->start;
    if (!time_decides && line[before] > line[id]) {
      numbered_[stream] = 1;
    }
  }
}

// The ids of `items` from `first` on for which belongs(item) holds.
template <typename IdType, typename T, typename Belongs>
IdRange<IdType> Run(const IdVector<IdType, T>& items, uint32_t first,
                    Belongs belongs) {
  uint32_t end = first;
  while (end < items.size() && belongs(items[IdType{end}])) {
    ++end;
  }
  return {.first = first, .count = end - first};
}

class GraphWriter {
 public:
  explicit GraphWriter(const Graph& graph)
      : data_(graph.data()),
        activities_(data_),
        call_labels_(data_.calls.size(), 0),
        activity_labels_(data_.activities.size(), 0),
        next_number_(data_.streams.size(), 0) {
    for (const Call& call : data_.calls) {
      if (call.event.valid()) {
        call_labels_[call.event] = 1;
      }
    }
    for (const StreamWait& wait : data_.stream_waits) {
      activity_labels_[wait.before] = 1;
      activity_labels_[wait.after] = 1;
    }
    for (const HostWait& wait : data_.host_waits) {
      activity_labels_[wait.before] = 1;
      call_labels_[wait.call] = 1;
    }
    for (const MatchedCollective& collective : data_.collectives) {
      for (const ActivityId activity : collective.activities) {
        activity_labels_[activity] = 1;
      }
    }
  }

  std::string Write() && {
    out_ += kGraphTextHeader;
    out_ += '\n';
    if (data_.source != StringPool::kEmpty) {
      out_ += "source";
      Quoted(data_.source);
      out_ += '\n';
    }
    for (const RankId id : data_.ranks.ids()) {
      WriteRank(id);
    }
    for (const MatchedCollective& collective : data_.collectives) {
      out_ += "collective ";
      out_ += Name(collective.kind);
      for (const ActivityId activity : collective.activities) {
        Label('w', activity.value);
      }
      out_ += '\n';
    }
    return std::move(out_);
  }

 private:
  // Indentation that grows with every level would make the text of a deep nest
  // quadratic; from kMaxIndentedDepth on the depth is a number.
  void Indent(size_t depth) {
    out_.append(2 * std::min(depth, kMaxIndentedDepth), ' ');
    if (depth > kMaxIndentedDepth) {
      out_ += '^';
      AppendInt(out_, static_cast<int64_t>(depth));
      out_ += ' ';
    }
  }

  void Quoted(StringId text) {
    out_ += ' ';
    AppendQuoted(out_, data_.strings.view(text));
  }

  void Word(std::string_view word) {
    out_ += ' ';
    out_ += word;
  }

  void Time(const std::optional<Measured>& measured) {
    if (measured) {
      out_ += ' ';
      AppendTime(out_, *measured);
    }
  }

  void Label(char kind, uint32_t number) {
    out_ += " #";
    out_ += kind;
    AppendInt(out_, number);
  }

  void WriteRank(RankId id) {
    const Rank& rank = data_.ranks[id];
    out_ += "rank ";
    AppendInt(out_, rank.number);
    if (rank.gpu != StringPool::kEmpty) {
      Quoted(rank.gpu);
    }
    const IdRange<StreamId> streams =
        Run(data_.streams, next_stream_,
            [&](const Stream& stream) { return stream.rank == id; });
    next_stream_ += streams.count;
    usual_device_ =
        streams.count > 0 ? data_.streams[*streams.begin()].device : 0;
    if (usual_device_ != 0) {
      out_ += " device=";
      AppendInt(out_, usual_device_);
    }
    Time(rank.step);
    out_ += '\n';
    WriteStreams(streams);
    while (next_thread_ < data_.threads.size() &&
           data_.threads[ThreadId{next_thread_}].rank == id) {
      WriteThread(ThreadId{next_thread_++});
    }
    for (const ActivityId orphan : activities_.orphans(id)) {
      WriteActivity(orphan, 1);
    }
    WriteWaits(id);
  }

  void WriteStreams(IdRange<StreamId> streams) {
    if (streams.count == 0) {
      return;
    }
    out_ += "  streams";
    for (const StreamId stream : streams) {
      out_ += ' ';
      AppendStream(out_, data_.streams[stream], usual_device_);
    }
    out_ += '\n';
  }

  void WriteThread(ThreadId id) {
    const Thread& thread = data_.threads[id];
    out_ += "  thread ";
    out_ += Name(thread.role);
    if (thread.name != StringPool::kEmpty) {
      Quoted(thread.name);
    }
    out_ += '\n';
    const IdRange<OpId> ops =
        Run(data_.ops, next_op_, [&](const Op& op) { return op.thread == id; });
    const IdRange<CallId> calls =
        Run(data_.calls, next_call_,
            [&](const Call& call) { return call.thread == id; });
    next_op_ += ops.count;
    next_call_ += calls.count;
    const std::vector<OutlineItem> outline = Outline(data_, ops, calls);
    std::vector<char> op_labels(ops.count, 0);
    for (const OutlineItem& item : outline) {
      if (item.misplaced && data_.calls[item.call].op.valid()) {
        op_labels[data_.calls[item.call].op.value - ops.first] = 1;
      }
    }
    for (const OutlineItem& item : outline) {
      if (item.op.valid()) {
        WriteOp(item, op_labels[item.op.value - ops.first] != 0);
      } else {
        WriteCall(item);
      }
    }
  }

  void WriteOp(const OutlineItem& item, bool has_label) {
    const Op& op = data_.ops[item.op];
    const size_t depth = item.depth + kOpDepth;
    Indent(depth);
    out_ += Name(op.kind);
    Quoted(op.name);
    if (op.phase != Phase::kUnknown) {
      out_ += " phase=";
      out_ += Name(op.phase);
    }
    if (op.sequence != Op{}.sequence) {
      out_ += " seq=";
      AppendInt(out_, op.sequence);
    }
    if (op.modules != StringPool::kEmpty) {
      Word("modules");
      Quoted(op.modules);
    }
    if (op.site != StringPool::kEmpty) {
      Word("site");
      Quoted(op.site);
    }
    Time(op.measured);
    if (has_label) {
      Label('o', item.op.value);
    }
    out_ += '\n';
    WriteTensors("in", op.inputs, depth + 1);
    WriteTensors("out", op.outputs, depth + 1);
  }

  void WriteTensors(std::string_view word, IdRange<TensorId> tensors,
                    size_t depth) {
    if (tensors.count == 0) {
      return;
    }
    Indent(depth);
    out_ += word;
    for (const TensorId id : tensors) {
      out_ += ' ';
      AppendTensor(out_, data_.tensors[id]);
    }
    out_ += '\n';
  }

  void WriteCall(const OutlineItem& item) {
    const Call& call = data_.calls[item.call];
    const size_t depth = item.depth + kOpDepth;
    Indent(depth);
    out_ += "call ";
    out_ += Name(call.kind);
    Quoted(call.name);
    if (call.stream.valid()) {
      out_ += " stream=";
      AppendStream(out_, data_.streams[call.stream], usual_device_);
    }
    if (call.event.valid()) {
      out_ += " event=#c";
      AppendInt(out_, call.event.value);
    }
    if (item.misplaced) {
      out_ += call.op.valid() ? " op=#o" : " op=none";
      if (call.op.valid()) {
        AppendInt(out_, call.op.value);
      }
    }
    Time(call.measured);
    if (call_labels_[item.call] != 0) {
      Label('c', item.call.value);
    }
    out_ += '\n';
    for (const ActivityId activity : activities_.of(item.call)) {
      WriteActivity(activity, depth + 1);
    }
  }

  void WriteActivity(ActivityId id, size_t depth) {
    const Activity& activity = data_.activities[id];
    Indent(depth);
    out_ += 's';
    AppendStream(out_, data_.streams[activity.stream], usual_device_);
    if (activities_.is_numbered(activity.stream)) {
      const uint32_t number = activities_.number(id, activity.stream);
      uint32_t& next = next_number_[activity.stream];
      if (number != next) {
        out_ += '[';
        AppendInt(out_, number);
        out_ += ']';
      }
      next = number + 1;
    }
    out_ += ": ";
    const KernelShape& shape = data_.shapes[activity.shape];
    AppendShape(out_, shape);
    if (activity.kind != UsualKind(shape)) {
      Word(Name(activity.kind));
    }
    if (activity.name != StringPool::kEmpty) {
      Quoted(activity.name);
    }
    Time(activity.measured);
    if (activity_labels_[id] != 0) {
      Label('w', id.value);
    }
    out_ += '\n';
  }

  void WriteWaits(RankId rank) {
    while (next_stream_wait_ < data_.stream_waits.size()) {
      const StreamWait& wait = data_.stream_waits[next_stream_wait_];
      if (data_.streams[data_.activities[wait.after].stream].rank != rank) {
        break;
      }
      ++next_stream_wait_;
      WriteWait(wait.before, 'w', wait.after.value, wait.inferred);
    }
    while (next_host_wait_ < data_.host_waits.size()) {
      const HostWait& wait = data_.host_waits[next_host_wait_];
      if (data_.threads[data_.calls[wait.call].thread].rank != rank) {
        break;
      }
      ++next_host_wait_;
      WriteWait(wait.before, 'c', wait.call.value, wait.inferred);
    }
  }

  void WriteWait(ActivityId before, char kind, uint32_t after, bool inferred) {
    out_ += "  wait";
    Label('w', before.value);
    out_ += " ->";
    Label(kind, after);
    out_ += inferred ? " inferred\n" : "\n";
  }

  const GraphData& data_;
  ActivityLayout activities_;
  std::string out_;
  IdVector<CallId, char> call_labels_;  // Whether something refers to it.
  IdVector<ActivityId, char> activity_labels_;
  // What was written so far of things that are grouped by rank or thread.
  int64_t usual_device_ = 0;  // Of the rank that is being written.
  uint32_t next_thread_ = 0;
  uint32_t next_stream_ = 0;
  uint32_t next_op_ = 0;
  uint32_t next_call_ = 0;
  size_t next_stream_wait_ = 0;
  size_t next_host_wait_ = 0;
  IdVector<StreamId, uint32_t> next_number_;
};

}  // namespace

std::string GraphText(const Graph& graph) {
  return GraphWriter(graph).Write();
}

}  // namespace stepcast::ir
