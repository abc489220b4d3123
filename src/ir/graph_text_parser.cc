// Reads a graph from its text.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"
#include "ir/graph_builder.h"
#include "ir/graph_text.h"
#include "ir/names.h"
#include "ir/shape_set.h"
#include "ir/text_atoms.h"
#include "ir/text_statements.h"

namespace stepcast::ir {
namespace {

// A graph as its text gives it: parts that name each other by labels, and works
// with the place they take on their stream.

// A label where it is defined or used; empty if there is none.
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

// Collects parts in the order of the text and resolves at the end what they
// say of each other, which may come later than they do.
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

tl::unexpected<Error> At(size_t line, std::string_view what) {
  return Fail(ErrorCode::kInvalidInput, fmt::format("line {}: {}", line, what));
}

std::string Shown(TextLabel label) {
  return Shown(TextWord{.text = label.name});
}

void TextGraph::DefineOp(TextLabel label, OpId id) {
  Define(label, Kind::kOp, id.value);
}

CallId TextGraph::AddCall(const Call& call, TextLabel label, TextLabel event,
                          TextLabel op) {
  const auto index = static_cast<uint32_t>(calls_.size());
  calls_.push_back({.call = call, .event = event, .op = op});
  Define(label, Kind::kCall, index);
  return CallId{index};
}

void TextGraph::AddWork(const Work& work, const KernelShape& shape,
                        TextLabel label, std::optional<uint32_t> place) {
  while (streams_.size() <= work.stream.value) {
    streams_.push_back({});
  }
  StreamState& stream = streams_[work.stream];
  const uint32_t taken = place.value_or(stream.next_place);
  stream.next_place = taken + 1;
  ++stream.works;
  Define(label, Kind::kWork, static_cast<uint32_t>(works_.size()));
  works_.push_back({.work = work, .place = taken, .line = label.line});
  works_.back().work.shape = shapes_.Insert(shape);
}

Result<Graph> TextGraph::Build() && {
  RETURN_IF_ERROR(SortDefinitions());
  RETURN_IF_ERROR(BuildCalls());
  RETURN_IF_ERROR(BuildWorks());
  RETURN_IF_ERROR(BuildWaits());
  RETURN_IF_ERROR(BuildCollectives());
  return std::move(builder_).Build();
}

std::string_view TextGraph::KindName(Kind kind) {
  switch (kind) {
    case Kind::kOp:
      return "an op";
    case Kind::kCall:
      return "a call";
    case Kind::kWork:
      return "a work";
  }
  return "";
}

void TextGraph::Define(TextLabel label, Kind kind, uint32_t index) {
  if (!label.name.empty()) {
    definitions_.push_back({.label = label, .kind = kind, .index = index});
  }
}

Status TextGraph::SortDefinitions() {
  // Sorting, unlike hashing, has no bad case that a file could be made for.
  std::ranges::stable_sort(definitions_, {}, [](const Definition& definition) {
    return definition.label.name;
  });
  for (size_t i = 1; i < definitions_.size(); ++i) {
    const TextLabel& first = definitions_[i - 1].label;
    const TextLabel& second = definitions_[i].label;
    if (first.name == second.name) {
      return At(second.line,
                fmt::format("label {} stands for something else since line {}",
                            Shown(second), first.line));
    }
  }
  return {};
}

Result<const TextGraph::Definition*> TextGraph::Find(TextLabel label) const {
  const auto found = std::ranges::lower_bound(
      definitions_, label.name, {},
      [](const Definition& definition) { return definition.label.name; });
  if (found == definitions_.end() || found->label.name != label.name) {
    return At(label.line,
              fmt::format("nothing has the label {}", Shown(label)));
  }
  return &*found;
}

Result<uint32_t> TextGraph::Find(TextLabel label, Kind kind) const {
  ASSIGN_OR_RETURN(const Definition* const found, Find(label));
  if (found->kind != kind) {
    return At(label.line,
              fmt::format("label {} is {}; expected {}", Shown(label),
                          KindName(found->kind), KindName(kind)));
  }
  return found->index;
}

Status TextGraph::BuildCalls() {
  for (PendingCall& pending : calls_) {
    if (!pending.event.name.empty()) {
      ASSIGN_OR_RETURN(const uint32_t event, Find(pending.event, Kind::kCall));
      pending.call.event = CallId{event};
    }
    if (!pending.op.name.empty()) {
      ASSIGN_OR_RETURN(const uint32_t op, Find(pending.op, Kind::kOp));
      pending.call.op = OpId{op};
    }
    builder_.AddCall(pending.call);
  }
  return {};
}

Status TextGraph::BuildWorks() {
  // The places of all streams, one stream behind the other.
  constexpr uint32_t kFree = 0xFFFFFFFF;
  IdVector<StreamId, size_t> first(streams_.size(), 0);
  size_t count = 0;
  for (const StreamId id : streams_.ids()) {
    first[id] = count;
    count += streams_[id].works;
  }
  std::vector<uint32_t> places(count, kFree);
  for (uint32_t i = 0; i < works_.size(); ++i) {
    const PendingWork& pending = works_[i];
    const StreamId stream = pending.work.stream;
    if (pending.place >= streams_[stream].works) {
      return At(pending.line,
                fmt::format("place {} on a stream of {} works; places count "
                            "from 0",
                            pending.place, streams_[stream].works));
    }
    uint32_t& holder = places[first[stream] + pending.place];
    if (holder != kFree) {
      return At(pending.line,
                fmt::format("place {} on its stream is taken since line {}",
                            pending.place, works_[holder].line));
    }
    holder = i;
  }
  work_ids_.resize(works_.size());
  for (const uint32_t i : places) {
    const Work& work = works_[i].work;
    work_ids_[i] = builder_.AddWork(work, shapes_.shapes()[work.shape]);
  }
  return {};
}

Status TextGraph::BuildWaits() {
  for (const TextWait& wait : waits_) {
    ASSIGN_OR_RETURN(const uint32_t before, Find(wait.before, Kind::kWork));
    ASSIGN_OR_RETURN(const Definition* const after, Find(wait.after));
    if (after->kind == Kind::kWork) {
      builder_.AddStreamWait({.before = work_ids_[before],
                              .after = work_ids_[after->index],
                              .inferred = wait.inferred});
      continue;
    }
    ASSIGN_OR_RETURN(const uint32_t call, Find(wait.after, Kind::kCall));
    builder_.AddHostWait({.before = work_ids_[before],
                          .call = CallId{call},
                          .inferred = wait.inferred});
  }
  return {};
}

Status TextGraph::BuildCollectives() {
  for (const TextCollective& text : collectives_) {
    MatchedCollective collective{.kind = text.kind};
    for (const TextLabel label : text.works) {
      ASSIGN_OR_RETURN(const uint32_t work, Find(label, Kind::kWork));
      collective.works.push_back(work_ids_[work]);
    }
    builder_.AddCollective(std::move(collective));
  }
  return {};
}

// Line numbers, ids and places on streams stay below 2^32 with this.
constexpr size_t kMaxBytes = size_t{4} << 30;

tl::unexpected<Error> Bad(std::string what) {
  return Fail(ErrorCode::kInvalidInput, std::move(what));
}

tl::unexpected<Error> Unknown(std::string_view word,
                              std::string_view expected) {
  return Bad(fmt::format("unknown word {}; expected {}",
                         Shown(TextWord{.text = word}), expected));
}

class GraphParser {
 public:
  Result<Graph> Parse(std::string_view text) && {
    if (text.size() >= kMaxBytes) {
      return Fail(ErrorCode::kUnsupported,
                  "graph text of 4 GiB or more; expected less");
    }
    do {
      const size_t size = std::min(text.find('\n'), text.size());
      ++line_number_;
      if (auto status = ParseLine(text.substr(0, size)); !status) {
        return Prefixed(fmt::format("line {}", line_number_),
                        std::move(status).error());
      }
      text.remove_prefix(std::min(size + 1, text.size()));
    } while (!text.empty());
    FinishOp();
    return std::move(graph_).Build();
  }

 private:
  // What the lines further in belong to, one for each level.
  struct Open {
    enum class Kind { kRank, kThread, kOp, kCall };
    Kind kind = Kind::kRank;
    uint32_t index = 0;
  };
  // An op whose tensors may still come, in the lines right below it.
  struct PendingOp {
    Op op{};
    std::vector<Tensor> inputs{};
    std::vector<Tensor> outputs{};
  };

  Status ParseLine(std::string_view text) {
    if (line_number_ == 1) {
      return ParseHeader(text);
    }
    TextLine line(text);
    if (line.is_empty()) {
      return {};
    }
    ASSIGN_OR_RETURN(const size_t depth, line.TakeDepth());
    if (depth > open_.size()) {
      return Bad(fmt::format("at depth {}; expected at most {} here", depth,
                             open_.size()));
    }
    ASSIGN_OR_RETURN(const std::optional<TextWord> first, line.Next());
    if (!first || first->quoted) {
      return Bad("expected a word at the start of the line");
    }
    const std::string_view word = first->text;
    if (pending_op_ && depth == open_.size()) {
      if (word == "in") {
        return ParseTensorLine(line, pending_op_->inputs);
      }
      if (word == "out") {
        return ParseTensorLine(line, pending_op_->outputs);
      }
    }
    FinishOp();
    open_.resize(depth);
    return ParseStatement(word, line);
  }

  static Status ParseHeader(std::string_view text) {
    if (text.ends_with('\r')) {
      text.remove_suffix(1);
    }
    if (text != kGraphTextHeader) {
      return Bad(fmt::format(
          "{}; expected '{}'",
          text.empty() ? "nothing here" : Shown(TextWord{.text = text}),
          kGraphTextHeader));
    }
    return {};
  }

  Status ParseStatement(std::string_view word, TextLine& line) {
    if (open_.empty()) {
      return ParseTop(word, line);
    }
    switch (open_.back().kind) {
      case Open::Kind::kRank:
        return ParseInRank(word, line);
      case Open::Kind::kThread:
      case Open::Kind::kOp:
        return ParseInThread(word, line);
      case Open::Kind::kCall:
        return ParseInCall(word, line);
    }
    return {};
  }

  Status ParseTop(std::string_view word, TextLine& line) {
    if (word == "rank") {
      return AddRank(line);
    }
    if (word == "collective") {
      return AddCollective(line);
    }
    if (word == "source") {
      ASSIGN_OR_RETURN(const std::string source, ParseSourceLine(line));
      builder().set_source(source);
      return {};
    }
    return Unknown(word, "source, rank or collective");
  }

  Status ParseInRank(std::string_view word, TextLine& line) {
    if (word == "thread") {
      return AddThread(line);
    }
    if (word == "streams") {
      ASSIGN_OR_RETURN(const std::vector<StreamName> streams,
                       ParseStreamsLine(line));
      for (const StreamName& stream : streams) {
        StreamOf(stream);
      }
      return {};
    }
    if (word == "wait") {
      return AddWait(line);
    }
    if (word.ends_with(':')) {
      return AddWork(word, line, CallId{});
    }
    return Unknown(word, "streams, thread, wait or a work such as 's7: ...'");
  }

  Status ParseInThread(std::string_view word, TextLine& line) {
    if (const auto kind = FromName<OpKind>(word)) {
      return AddOp(*kind, line);
    }
    if (word == "call") {
      return AddCall(line);
    }
    if (word == "in" || word == "out") {
      return Bad(fmt::format("'{}' must stand right below its op", word));
    }
    return Unknown(word, "op, annotation, call, in or out");
  }

  Status ParseInCall(std::string_view word, TextLine& line) {
    if (!word.ends_with(':')) {
      return Unknown(word, "a work such as 's7: ...'");
    }
    return AddWork(word, line, CallId{open_.back().index});
  }

  GraphBuilder& builder() { return graph_.builder(); }
  RankId rank() const { return RankId{open_[0].index}; }
  ThreadId thread() const { return ThreadId{open_[1].index}; }
  OpId innermost_op() const {
    return open_.back().kind == Open::Kind::kOp ? OpId{open_.back().index}
                                                : OpId{};
  }
  TextLabel Label(std::string_view name) const {
    return {.name = name, .line = line_number_};
  }

  StreamId StreamOf(const StreamName& name) {
    const int64_t device = name.device.value_or(usual_device_);
    const auto [at, is_new] =
        streams_.try_emplace(std::tuple(rank().value, device, name.number));
    if (is_new) {
      at->second = builder().AddStream(
          {.rank = rank(), .device = device, .number = name.number});
    }
    return at->second;
  }

  Status AddRank(TextLine& line) {
    ASSIGN_OR_RETURN(const RankLine rank, ParseRankLine(line));
    const RankId id = builder().AddRank({.number = rank.number,
                                         .gpu = builder().Intern(rank.gpu),
                                         .step = rank.step});
    usual_device_ = rank.device;
    open_.push_back({.kind = Open::Kind::kRank, .index = id.value});
    return {};
  }

  Status AddThread(TextLine& line) {
    ASSIGN_OR_RETURN(const ThreadLine thread, ParseThreadLine(line));
    const ThreadId id =
        builder().AddThread({.rank = rank(),
                             .role = thread.role,
                             .name = builder().Intern(thread.name)});
    open_.push_back({.kind = Open::Kind::kThread, .index = id.value});
    return {};
  }

  Status AddOp(OpKind kind, TextLine& line) {
    ASSIGN_OR_RETURN(const OpLine op, ParseOpLine(line));
    const OpId id{op_count_++};
    pending_op_ = PendingOp{.op = {.name = builder().Intern(op.name),
                                   .kind = kind,
                                   .thread = thread(),
                                   .parent = innermost_op(),
                                   .phase = op.phase,
                                   .sequence = op.sequence,
                                   .measured = op.measured}};
    graph_.DefineOp(Label(op.label), id);
    open_.push_back({.kind = Open::Kind::kOp, .index = id.value});
    return {};
  }

  // Hands over the op whose lines have ended.
  void FinishOp() {
    if (pending_op_) {
      builder().AddOp(pending_op_->op, std::move(pending_op_->inputs),
                      std::move(pending_op_->outputs));
      pending_op_.reset();
    }
  }

  Status AddCall(TextLine& line) {
    ASSIGN_OR_RETURN(const CallLine call, ParseCallLine(line));
    const CallId id = graph_.AddCall(
        {.name = builder().Intern(call.name),
         .kind = call.kind,
         .thread = thread(),
         .op = call.outside_ops ? OpId{} : innermost_op(),
         .stream = call.stream ? StreamOf(*call.stream) : StreamId{},
         .measured = call.measured},
        Label(call.label), Label(call.event), Label(call.op));
    open_.push_back({.kind = Open::Kind::kCall, .index = id.value});
    return {};
  }

  Status AddWork(std::string_view head, TextLine& line, CallId call) {
    ASSIGN_OR_RETURN(const WorkLine work, ParseWorkLine(head, line));
    graph_.AddWork({.name = builder().Intern(work.name),
                    .kind = work.kind,
                    .stream = StreamOf(work.stream),
                    .call = call,
                    .measured = work.measured},
                   work.shape, Label(work.label), work.place);
    return {};
  }

  Status AddWait(TextLine& line) {
    ASSIGN_OR_RETURN(const WaitLine wait, ParseWaitLine(line));
    graph_.AddWait({.before = Label(wait.before),
                    .after = Label(wait.after),
                    .inferred = wait.inferred});
    return {};
  }

  Status AddCollective(TextLine& line) {
    ASSIGN_OR_RETURN(const CollectiveLine collective,
                     ParseCollectiveLine(line));
    TextCollective text{.kind = collective.kind};
    for (const std::string_view work : collective.works) {
      text.works.push_back(Label(work));
    }
    graph_.AddCollective(std::move(text));
    return {};
  }

  size_t line_number_ = 0;
  TextGraph graph_;
  std::vector<Open> open_;
  std::optional<PendingOp> pending_op_;
  uint32_t op_count_ = 0;
  int64_t usual_device_ = 0;  // Of the rank that is open.
  // By rank, device and number.
  std::map<std::tuple<uint32_t, int64_t, int64_t>, StreamId> streams_;
};

}  // namespace

Result<Graph> ParseGraph(std::string_view text) {
  return GraphParser().Parse(text);
}

}  // namespace stepcast::ir
