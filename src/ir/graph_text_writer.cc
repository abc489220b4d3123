// Writes a graph as text.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "ir/graph_text.h"
#include "ir/names.h"
#include "ir/outline.h"
#include "ir/shape_text.h"
#include "ir/text_atoms.h"
#include "ir/text_statements.h"

namespace stepcast::ir {
namespace {

// Where works stand in the text form: below their calls, and numbered where the
// order of the lines does not tell the order on the stream.

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

WorkLayout::WorkLayout(const GraphData& data)
    : first_(size_t{data.calls.size()} + 1),
      orphans_(data.ranks.size()),
      first_on_stream_(data.streams.size()),
      numbered_(data.streams.size(), 0) {
  for (const Work& work : data.works) {
    if (work.call.valid()) {
      ++first_[size_t{work.call.value} + 1];
    }
  }
  for (size_t i = 1; i < first_.size(); ++i) {
    first_[i] += first_[i - 1];
  }
  launched_.resize(first_.back());
  std::vector<uint32_t> next = first_;
  for (const WorkId id : data.works.ids()) {
    const Work& work = data.works[id];
    if (work.call.valid()) {
      launched_[next[work.call.value]++] = id;
    } else {
      orphans_[data.streams[work.stream].rank].push_back(id);
    }
  }
  FindNumbered(data);
}

void WorkLayout::FindNumbered(const GraphData& data) {
  // The place of each work's line. The orphans of a rank stand behind its
  // calls; other ranks do not matter, since a stream belongs to one.
  IdVector<WorkId, uint32_t> line(data.works.size());
  uint32_t next = 0;
  for (const WorkId id : launched_) {
    line[id] = next++;
  }
  IdVector<StreamId, char> all_timed(data.streams.size(), 1);
  for (const WorkId id : data.works.ids()) {
    const Work& work = data.works[id];
    if (!work.call.valid()) {
      line[id] = next++;
    }
    if (!StartOf(work.measured)) {
      all_timed[work.stream] = 0;
    }
  }
  StreamId stream{};
  for (const WorkId id : data.works.ids()) {
    const Work& work = data.works[id];
    if (work.stream != stream) {
      stream = work.stream;
      first_on_stream_[stream] = id.value;
      continue;
    }
    const WorkId before{id.value - 1};
    const bool time_decides =
        all_timed[stream] != 0 &&
        data.works[before].measured->start < work.measured->start;
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
        works_(data_),
        call_labels_(data_.calls.size(), 0),
        work_labels_(data_.works.size(), 0),
        next_number_(data_.streams.size(), 0) {
    for (const Call& call : data_.calls) {
      if (call.event.valid()) {
        call_labels_[call.event] = 1;
      }
    }
    for (const StreamWait& wait : data_.stream_waits) {
      work_labels_[wait.before] = 1;
      work_labels_[wait.after] = 1;
    }
    for (const HostWait& wait : data_.host_waits) {
      work_labels_[wait.before] = 1;
      call_labels_[wait.call] = 1;
    }
    for (const MatchedCollective& collective : data_.collectives) {
      for (const WorkId work : collective.works) {
        work_labels_[work] = 1;
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
      for (const WorkId work : collective.works) {
        Label('w', work.value);
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
    for (const WorkId orphan : works_.orphans(id)) {
      WriteWork(orphan, 1);
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
    for (const WorkId work : works_.of(item.call)) {
      WriteWork(work, depth + 1);
    }
  }

  void WriteWork(WorkId id, size_t depth) {
    const Work& work = data_.works[id];
    Indent(depth);
    out_ += 's';
    AppendStream(out_, data_.streams[work.stream], usual_device_);
    if (works_.is_numbered(work.stream)) {
      const uint32_t number = works_.number(id, work.stream);
      uint32_t& next = next_number_[work.stream];
      if (number != next) {
        out_ += '[';
        AppendInt(out_, number);
        out_ += ']';
      }
      next = number + 1;
    }
    out_ += ": ";
    const KernelShape& shape = data_.shapes[work.shape];
    AppendShape(out_, shape);
    if (work.kind != UsualKind(shape)) {
      Word(Name(work.kind));
    }
    if (work.name != StringPool::kEmpty) {
      Quoted(work.name);
    }
    Time(work.measured);
    if (work_labels_[id] != 0) {
      Label('w', id.value);
    }
    out_ += '\n';
  }

  void WriteWaits(RankId rank) {
    while (next_stream_wait_ < data_.stream_waits.size()) {
      const StreamWait& wait = data_.stream_waits[next_stream_wait_];
      if (data_.streams[data_.works[wait.after].stream].rank != rank) {
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

  void WriteWait(WorkId before, char kind, uint32_t after, bool inferred) {
    out_ += "  wait";
    Label('w', before.value);
    out_ += " ->";
    Label(kind, after);
    out_ += inferred ? " inferred\n" : "\n";
  }

  const GraphData& data_;
  WorkLayout works_;
  std::string out_;
  IdVector<CallId, char> call_labels_;  // Whether something refers to it.
  IdVector<WorkId, char> work_labels_;
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
