// Reads a graph from its text.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ir/graph_text.h"
#include "ir/graph_text_form.h"
#include "ir/names.h"
#include "ir/text_graph.h"
#include "ir/text_line.h"
#include "ir/text_statements.h"

namespace stepcast::ir {
namespace {

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
