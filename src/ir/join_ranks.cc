#include "ir/join_ranks.h"

#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ir/graph_builder.h"
#include "ir/names.h"

namespace stepcast::ir {
namespace {

// The collectives of each rank on the streams of one number.
struct Lineup {
  std::vector<std::vector<ActivityId>> of_ranks;  // Ids of the builder.
  std::vector<std::vector<CollectiveKind>> kinds;
};

class Joiner {
 public:
  explicit Joiner(size_t ranks) : rank_count_(ranks) {}

  void Add(const RankGraph& rank, size_t place);
  Result<Graph> Finish() &&;

 private:
  StringId Text(const Graph& graph, StringId id) {
    return builder_.Intern(graph.text(id));
  }
  void AddOps(const Graph& graph);
  void AddCalls(const Graph& graph);
  void AddActivities(const Graph& graph, size_t place);
  void AddWaits(const GraphData& data);
  Status Match(int64_t stream, const Lineup& lineup);

  const size_t rank_count_;
  GraphBuilder builder_;
  // From ids of the rank's graph to those of the builder.
  std::vector<RankId> ranks_;
  std::vector<ThreadId> threads_;
  std::vector<StreamId> streams_;
  std::vector<OpId> ops_;
  std::vector<CallId> calls_;
  uint32_t call_count_ = 0;
  std::vector<ActivityId> activities_;
  std::map<int64_t, Lineup> lineups_;  // By the stream's number.
};

template <typename IdType>
IdType Mapped(const std::vector<IdType>& map, IdType id) {
  return id.valid() ? map[id.value] : IdType{};
}

void Joiner::AddOps(const Graph& graph) {
  const GraphData& data = graph.data();
  const auto tensors = [&](IdRange<TensorId> range) {
    std::vector<Tensor> list;
    for (const TensorId id : range) {
      list.push_back(data.tensors[id]);
    }
    return list;
  };
  ops_.clear();
  for (Op op : data.ops) {  // Parents come first.
    op.name = Text(graph, op.name);
    op.modules = Text(graph, op.modules);
    op.site = Text(graph, op.site);
    op.thread = Mapped(threads_, op.thread);
    op.parent = Mapped(ops_, op.parent);
    ops_.push_back(builder_.AddOp(op, tensors(op.inputs), tensors(op.outputs)));
  }
}

void Joiner::AddCalls(const Graph& graph) {
  const GraphData& data = graph.data();
  // Calls keep their order, so the id of one that comes later is known: an
  // event is named by the call that records it.
  calls_.clear();
  for (uint32_t i = 0; i < data.calls.size(); ++i) {
    calls_.push_back(CallId{call_count_++});
  }
  for (Call call : data.calls) {
    call.name = Text(graph, call.name);
    call.thread = Mapped(threads_, call.thread);
    call.op = Mapped(ops_, call.op);
    call.stream = Mapped(streams_, call.stream);
    call.event = Mapped(calls_, call.event);
    builder_.AddCall(call);
  }
}

void Joiner::AddActivities(const Graph& graph, size_t place) {
  const GraphData& data = graph.data();
  activities_.clear();
  for (const ActivityId id : data.activities.ids()) {
    Activity activity = data.activities[id];
    const int64_t stream = data.streams[activity.stream].number;
    activity.name = Text(graph, activity.name);
    activity.stream = Mapped(streams_, activity.stream);
    activity.call = Mapped(calls_, activity.call);
    const ActivityId added = builder_.AddActivity(activity, graph.shape(id));
    activities_.push_back(added);
    const auto* const shape = std::get_if<Collective>(&graph.shape(id));
    // The trace does not say who the peer of a message is; it may be a server.
    if (shape != nullptr && shape->kind != CollectiveKind::kSendRecv) {
      Lineup& lineup = lineups_[stream];
      lineup.of_ranks.resize(rank_count_);
      lineup.kinds.resize(rank_count_);
      lineup.of_ranks[place].push_back(added);
      lineup.kinds[place].push_back(shape->kind);
    }
  }
}

void Joiner::AddWaits(const GraphData& data) {
  for (StreamWait wait : data.stream_waits) {
    wait.before = Mapped(activities_, wait.before);
    wait.after = Mapped(activities_, wait.after);
    builder_.AddStreamWait(wait);
  }
  for (HostWait wait : data.host_waits) {
    wait.before = Mapped(activities_, wait.before);
    wait.call = Mapped(calls_, wait.call);
    builder_.AddHostWait(wait);
  }
}

void Joiner::Add(const RankGraph& rank, size_t place) {
  const Graph& graph = *rank.graph;
  const GraphData& data = graph.data();
  builder_.set_source(graph.text(data.source));
  ranks_.clear();
  for (Rank item : data.ranks) {
    item.number = rank.number;
    item.gpu = Text(graph, item.gpu);
    ranks_.push_back(builder_.AddRank(item));
  }
  threads_.clear();
  for (Thread thread : data.threads) {
    thread.rank = Mapped(ranks_, thread.rank);
    thread.name = Text(graph, thread.name);
    threads_.push_back(builder_.AddThread(thread));
  }
  streams_.clear();
  for (Stream stream : data.streams) {
    stream.rank = Mapped(ranks_, stream.rank);
    streams_.push_back(builder_.AddStream(stream));
  }
  AddOps(graph);
  AddCalls(graph);
  AddActivities(graph, place);
  AddWaits(data);
}

Status Joiner::Match(int64_t stream, const Lineup& lineup) {
  for (size_t rank = 1; rank < rank_count_; ++rank) {
    if (lineup.kinds[rank] != lineup.kinds.front()) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("ranks have {} and {} collectives on stream {}, "
                              "not all of the same kinds; expected the same "
                              "in the same order",
                              lineup.kinds.front().size(),
                              lineup.kinds[rank].size(), stream));
    }
  }
  for (size_t i = 0; i < lineup.of_ranks.front().size(); ++i) {
    MatchedCollective collective{.kind = lineup.kinds.front()[i]};
    for (size_t rank = 0; rank < rank_count_; ++rank) {
      collective.activities.push_back(lineup.of_ranks[rank][i]);
    }
    builder_.AddCollective(std::move(collective));
  }
  return {};
}

Result<Graph> Joiner::Finish() && {
  if (rank_count_ > 1) {
    for (const auto& [stream, lineup] : lineups_) {
      RETURN_IF_ERROR(Match(stream, lineup));
    }
  }
  return std::move(builder_).Build();
}

}  // namespace

Result<Graph> JoinRanks(std::span<const RankGraph> ranks) {
  Joiner joiner(ranks.size());
  for (size_t i = 0; i < ranks.size(); ++i) {
    joiner.Add(ranks[i], i);
  }
  return std::move(joiner).Finish();
}

}  // namespace stepcast::ir
