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
#include "ir/names.h"
#include "ir/shape_set.h"
#include "ir/text/graph_text.h"
#include "ir/text/text_atoms.h"
#include "ir/text/text_statements.h"

namespace stepcast::ir {
namespace {

// A graph as its text gives it: parts that name each other by labels, and
// activities with the place they take on their stream.

// A label where it is defined or used; empty if there is none.
struct TextLabel {
  std::string_view name{};  // Without '#'.
  size_t line = 0;
};

struct TextWait {
  TextLabel before{};
  TextLabel after{};  // An activity or a call.
  bool inferred = false;
};

struct TextCollective {
  CollectiveKind kind = CollectiveKind::kUnknown;
  std::vector<TextLabel> activities{};
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

  /// The activity takes that place on its stream or, if none is given, the one
  /// after the activity added before it. label.line must be set.
  void AddActivity(const Activity& activity, const KernelShape& shape,
                   TextLabel label, std::optional<uint32_t> place);

  void AddWait(const TextWait& wait) { waits_.push_back(wait); }
  void AddCollective(TextCollective collective) {
    collectives_.push_back(std::move(collective));
  }

  /// Errors begin with the line where that is known.
  Result<Graph> Build() &&;

 private:
  enum class Kind { kOp, kCall, kActivity };
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
  struct PendingActivity {
    Activity activity;
    uint32_t place = 0;
    size_t line = 0;
  };
  struct StreamState {
    uint32_t activities = 0;
    uint32_t next_place = 0;
  };

  static std::string_view KindName(Kind kind);
  void Define(TextLabel label, Kind kind, uint32_t index);
  Status SortDefinitions();
  Result<const Definition*> Find(TextLabel label) const;
  Result<uint32_t> Find(TextLabel label, Kind kind) const;
  Status BuildCalls();
  Status BuildActivities();
  Status BuildWaits();
  Status BuildCollectives();

  GraphBuilder builder_;
  ShapeSet shapes_;
  std::vector<Definition> definitions_;
  std::vector<PendingCall> calls_;
  std::vector<PendingActivity> activities_;
  std::vector<ActivityId> activity_ids_;  // Of activities_, in the builder.
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

void TextGraph::AddActivity(const Activity& activity, const KernelShape& shape,
                            TextLabel label, std::optional<uint32_t> place) {
  while (streams_.size() <= activity.stream.value) {
    streams_.push_back({});
  }
  StreamState& stream = streams_[activity.stream];
  const uint32_t taken = place.value_or(stream.next_place);
  stream.next_place = taken + 1;
  ++stream.activities;
  Define(label, Kind::kActivity, static_cast<uint32_t>(activities_.size()));
  activities_.push_back(
      {.activity = activity, .place = taken, .line = label.line});
  activities_.back().activity.shape = shapes_.Insert(shape);
}

Result<Graph> TextGraph::Build() && {
  RETURN_IF_ERROR(SortDefinitions());
  RETURN_IF_ERROR(BuildCalls());
  RETURN_IF_ERROR(BuildActivities());
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
    case Kind::kActivity:
      return "an activity";
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

Status TextGraph::BuildActivities() {
  // The places of all streams, one stream after the other.
  constexpr uint32_t kFree = 0xFFFFFFFF;
  IdVector<StreamId, size_t> first(streams_.size(), 0);
  size_t count = 0;
  for (const StreamId id : streams_.ids()) {
    first[id] = count;
    count += streams_[id].activities;
  }
  std::vector<uint32_t> places(count, kFree);
  for (uint32_t i = 0; i < activities_.size(); ++i) {
    const PendingActivity& pending = activities_[i];
    const StreamId stream = pending.activity.stream;
    if (pending.place >= streams_[stream].activities) {
      return At(pending.line,
                fmt::format("place {} on a stream of {} activities; places "
                            "count from 0",
                            pending.place, streams_[stream].activities));
    }
    uint32_t& holder = places[first[stream] + pending.place];
    if (holder != kFree) {
      return At(pending.line,
                fmt::format("place {} on its stream is taken since line {}",
                            pending.place, activities_[holder].line));
    }
    holder = i;
  }
  activity_ids_.resize(activities_.size());
  for (const uint32_t i : places) {
    const Activity& activity = activities_[i].activity;
    activity_ids_[i] =
        builder_.AddActivity(activity, shapes_.shapes()[activity.shape]);
  }
  return {};
}

Status TextGraph::BuildWaits() {
  for (const TextWait& wait : waits_) {
    ASSIGN_OR_RETURN(const uint32_t before, Find(wait.before, Kind::kActivity));
    ASSIGN_OR_RETURN(const Definition* const after, Find(wait.after));
    if (after->kind == Kind::kActivity) {
      builder_.AddStreamWait({.before = activity_ids_[before],
                              .after = activity_ids_[after->index],
                              .inferred = wait.inferred});
      continue;
    }
    ASSIGN_OR_RETURN(const uint32_t call, Find(wait.after, Kind::kCall));
    builder_.AddHostWait({.before = activity_ids_[before],
                          .call = CallId{call},
                          .inferred = wait.inferred});
  }
  return {};
}

Status TextGraph::BuildCollectives() {
  for (const TextCollective& text : collectives_) {
    MatchedCollective collective{.kind = text.kind};
    for (const TextLabel label : text.activities) {
      ASSIGN_OR_RETURN(const uint32_t activity, Find(label, Kind::kActivity));
      collective.activities.push_back(activity_ids_[activity]);
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
      return AddActivity(word, line, CallId{});
    }
    return Unknown(word,
                   "streams, thread, wait or an activity such as 's7: ...'");
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
      return Unknown(word, "an activity such as 's7: ...'");
    }
    return AddActivity(word, line, CallId{open_.back().index});
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
                                   .measured = op.measured,
                                   .modules = builder().Intern(op.modules),
                                   .site = builder().Intern(op.site)}};
    graph_.DefineOp(Label(op.label), id);
    open_.push_back({.kind = Open::Kind::kOp, .index = id.value});
    return {};
  }

  // Adds the op whose lines have ended to the graph.
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

  Status AddActivity(std::string_view head, TextLine& line, CallId call) {
    ASSIGN_OR_RETURN(const ActivityLine activity,
                     ParseActivityLine(head, line));
    graph_.AddActivity({.name = builder().Intern(activity.name),
                        .kind = activity.kind,
                        .stream = StreamOf(activity.stream),
                        .call = call,
                        .measured = activity.measured},
                       activity.shape, Label(activity.label), activity.place);
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
    for (const std::string_view activity : collective.activities) {
      text.activities.push_back(Label(activity));
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
