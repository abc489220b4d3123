// Handing the parts of a random graph to a builder, in any order.
#include <numeric>
#include <utility>

#include "ir/graph_builder.h"
#include "tests/testing/random_graph.h"

namespace stepcast::testing {
namespace {

// The order in which parts of one kind are added, and the ids they get.
template <typename IdType>
class Shuffled {
 public:
  Shuffled(size_t size, Rng* shuffle) : order_(size), id_(size) {
    std::iota(order_.begin(), order_.end(), size_t{0});
    for (size_t i = size; shuffle != nullptr && i > 1; --i) {
      std::swap(order_[i - 1], order_[static_cast<size_t>(shuffle->Below(i))]);
    }
    for (size_t i = 0; i < size; ++i) {
      id_[order_[i]] = IdType{static_cast<uint32_t>(i)};
    }
  }

  const std::vector<size_t>& order() const { return order_; }
  IdType operator()(IdType part) const {
    return part.valid() ? id_[part.value] : part;
  }

 private:
  std::vector<size_t> order_;
  std::vector<IdType> id_;
};

class Adder {
 public:
  Adder(const GraphParts& parts, Rng* shuffle)
      : parts_(parts),
        shuffle_(shuffle),
        ranks_(parts.ranks.size(), shuffle),
        threads_(parts.threads.size(), shuffle),
        streams_(parts.streams.size(), shuffle),
        ops_(parts.ops.size(), shuffle),
        calls_(parts.calls.size(), shuffle),
        activities_(parts.activities.size(), shuffle) {}

  Result<ir::Graph> Build() && {
    // Later things before earlier ones, to show that this does not matter.
    AddRelations();
    AddActivities();
    AddCalls();
    AddOps();
    AddPlaces();
    builder_.set_source(parts_.source);
    return std::move(builder_).Build();
  }

 private:
  void AddPlaces() {
    for (const size_t i : streams_.order()) {
      ir::Stream stream = parts_.streams[i];
      stream.rank = ranks_(stream.rank);
      builder_.AddStream(stream);
    }
    for (const size_t i : threads_.order()) {
      ir::Thread thread = parts_.threads[i].item;
      thread.name = builder_.Intern(parts_.threads[i].name);
      thread.rank = ranks_(thread.rank);
      builder_.AddThread(thread);
    }
    for (const size_t i : ranks_.order()) {
      ir::Rank rank = parts_.ranks[i].item;
      rank.gpu = builder_.Intern(parts_.ranks[i].name);
      builder_.AddRank(rank);
    }
  }

  void AddOps() {
    for (const size_t i : ops_.order()) {
      ir::Op op = parts_.ops[i].item;
      op.name = builder_.Intern(parts_.ops[i].name);
      op.modules = builder_.Intern(parts_.ops[i].modules);
      op.site = builder_.Intern(parts_.ops[i].site);
      op.thread = threads_(op.thread);
      op.parent = ops_(op.parent);
      builder_.AddOp(op, parts_.ops[i].inputs, parts_.ops[i].outputs);
    }
  }

  void AddCalls() {
    for (const size_t i : calls_.order()) {
      ir::Call call = parts_.calls[i].item;
      call.name = builder_.Intern(parts_.calls[i].name);
      call.thread = threads_(call.thread);
      call.op = ops_(call.op);
      call.stream = streams_(call.stream);
      call.event = calls_(call.event);
      builder_.AddCall(call);
    }
  }

  void AddActivities() {
    for (const size_t i : activities_.order()) {
      ir::Activity activity = parts_.activities[i].item;
      activity.name = builder_.Intern(parts_.activities[i].name);
      activity.stream = streams_(activity.stream);
      activity.call = calls_(activity.call);
      builder_.AddActivity(activity, parts_.activities[i].shape);
    }
  }

  void AddRelations() {
    const Shuffled<ir::ActivityId> stream_waits(parts_.stream_waits.size(),
                                                shuffle_);
    for (const size_t i : stream_waits.order()) {
      ir::StreamWait wait = parts_.stream_waits[i];
      wait.before = activities_(wait.before);
      wait.after = activities_(wait.after);
      builder_.AddStreamWait(wait);
    }
    const Shuffled<ir::ActivityId> host_waits(parts_.host_waits.size(),
                                              shuffle_);
    for (const size_t i : host_waits.order()) {
      ir::HostWait wait = parts_.host_waits[i];
      wait.before = activities_(wait.before);
      wait.call = calls_(wait.call);
      builder_.AddHostWait(wait);
    }
    const Shuffled<ir::CollectiveId> collectives(parts_.collectives.size(),
                                                 shuffle_);
    for (const size_t i : collectives.order()) {
      ir::MatchedCollective collective = parts_.collectives[i];
      for (ir::ActivityId& activity : collective.activities) {
        activity = activities_(activity);
      }
      builder_.AddCollective(std::move(collective));
    }
  }

  const GraphParts& parts_;
  Rng* shuffle_;
  ir::GraphBuilder builder_;
  Shuffled<ir::RankId> ranks_;
  Shuffled<ir::ThreadId> threads_;
  Shuffled<ir::StreamId> streams_;
  Shuffled<ir::OpId> ops_;
  Shuffled<ir::CallId> calls_;
  Shuffled<ir::ActivityId> activities_;
};

}  // namespace

Result<ir::Graph> BuildGraph(const GraphParts& parts, Rng* shuffle) {
  return Adder(parts, shuffle).Build();
}

}  // namespace stepcast::testing
