#include "ir/graph_builder.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/verify_parts.h"

namespace stepcast::ir {
namespace {

// Old ids to new ones, for one kind of thing.
template <typename IdType>
class Renumbering {
 public:
  Renumbering() = default;
  /// `order[new] == old`, each once.
  explicit Renumbering(std::vector<uint32_t> order)
      : order_(std::move(order)), new_of_(order_.size()) {
    for (uint32_t i = 0; i < order_.size(); ++i) {
      new_of_[IdType{order_[i]}] = IdType{i};
      is_identity_ = is_identity_ && order_[i] == i;
    }
  }

  bool is_identity() const { return is_identity_; }
  const std::vector<uint32_t>& order() const { return order_; }

  void Apply(IdType& id) const {
    if (id.valid()) {
      id = new_of_[id];
    }
  }

  template <typename T>
  void Permute(IdVector<IdType, T>& items) const {
    if (is_identity_) {
      return;
    }
    IdVector<IdType, T> sorted;
    sorted.reserve(order_.size());
    for (const uint32_t old : order_) {
      sorted.push_back(std::move(items[IdType{old}]));
    }
    items = std::move(sorted);
  }

 private:
  std::vector<uint32_t> order_;
  IdVector<IdType, IdType> new_of_;
  bool is_identity_ = true;
};

// Sorts `items` by key(item) and renumbers them.
template <typename IdType, typename T, typename Key>
Renumbering<IdType> SortBy(IdVector<IdType, T>& items, Key key) {
  std::vector<uint32_t> order(items.size());
  for (uint32_t i = 0; i < items.size(); ++i) {
    order[i] = i;
  }
  std::ranges::stable_sort(order, [&](uint32_t x, uint32_t y) {
    return key(items[IdType{x}]) < key(items[IdType{y}]);
  });
  Renumbering<IdType> renumbering(std::move(order));
  renumbering.Permute(items);
  return renumbering;
}

// Sorts things in groups by their start. What has no time takes that of the one
// before it in its group.
class TimedOrder {
 public:
  TimedOrder(size_t groups, size_t size) : last_(groups, INT64_MIN) {
    entries_.reserve(size);
  }

  void Add(size_t group, const std::optional<Measured>& measured) {
    if (const auto start = StartOf(measured)) {
      last_[group] = start->count();
    }
    entries_.push_back({.group = static_cast<uint32_t>(group),
                        .index = static_cast<uint32_t>(entries_.size()),
                        .start = last_[group]});
  }

  /// The indices in order, and where each group begins (one more at the end).
  struct Sorted {
    std::vector<uint32_t> order;
    std::vector<uint32_t> begin;
  };
  Sorted Sort() && {
    const auto before = [](const Entry& a, const Entry& b) {
      return std::tie(a.group, a.start, a.index) <
             std::tie(b.group, b.start, b.index);
    };
    if (!std::ranges::is_sorted(entries_, before)) {
      std::ranges::sort(entries_, before);
    }
    Sorted sorted;
    sorted.begin.resize(last_.size() + 1);
    sorted.order.reserve(entries_.size());
    for (const Entry& entry : entries_) {
      ++sorted.begin[size_t{entry.group} + 1];
      sorted.order.push_back(entry.index);
    }
    for (size_t i = 1; i < sorted.begin.size(); ++i) {
      sorted.begin[i] += sorted.begin[i - 1];
    }
    return sorted;
  }

 private:
  struct Entry {
    uint32_t group = 0;
    uint32_t index = 0;
    int64_t start = 0;
  };

  std::vector<int64_t> last_;
  std::vector<Entry> entries_;
};

// The ops in pre-order: the tops of each thread with all below them. Ops on or
// after a cycle of parents are missing.
std::vector<uint32_t> PreOrder(const GraphData& data) {
  // Group t: the tops of thread t; group threads + p: the children of op p.
  const size_t threads = data.threads.size();
  TimedOrder siblings(threads + data.ops.size(), data.ops.size());
  for (const Op& op : data.ops) {
    siblings.Add(
        op.parent.valid() ? threads + op.parent.value : size_t{op.thread.value},
        op.measured);
  }
  const TimedOrder::Sorted sorted = std::move(siblings).Sort();
  std::vector<uint32_t> order;
  order.reserve(data.ops.size());
  std::vector<std::pair<uint32_t, uint32_t>> open;  // Siblings left to visit.
  for (size_t thread = 0; thread < threads; ++thread) {
    open.emplace_back(sorted.begin[thread], sorted.begin[thread + 1]);
    while (!open.empty()) {
      if (open.back().first == open.back().second) {
        open.pop_back();
        continue;
      }
      const uint32_t op = sorted.order[open.back().first++];
      order.push_back(op);
      const size_t group = threads + op;
      if (sorted.begin[group] < sorted.begin[group + 1]) {
        open.emplace_back(sorted.begin[group], sorted.begin[group + 1]);
      }
    }
  }
  return order;
}

tl::unexpected<Error> CycleOfParents(const GraphData& data,
                                     const std::vector<uint32_t>& reached) {
  IdVector<OpId, char> seen(data.ops.size(), 0);
  for (const uint32_t op : reached) {
    seen[OpId{op}] = 1;
  }
  OpId at{};
  for (const OpId id : data.ops.ids()) {
    if (seen[id] == 0) {
      at = id;
      break;
    }
  }
  while (seen[at] == 0) {
    seen[at] = 1;
    at = data.ops[at].parent;
  }
  return Broken(data, at, "it is its own parent, directly or over others");
}

// Puts the tensors into the order of the ops.
void SortTensors(GraphData& data) {
  IdVector<TensorId, Tensor> sorted;
  sorted.reserve(data.tensors.size());
  const auto take = [&](IdRange<TensorId>& range) {
    const uint32_t first = sorted.size();
    for (const TensorId id : range) {
      sorted.push_back(std::move(data.tensors[id]));
    }
    range.first = first;
  };
  for (Op& op : data.ops) {
    take(op.inputs);
    take(op.outputs);
  }
  data.tensors = std::move(sorted);
}

void SortRanks(GraphData& data) {
  const auto renumbering =
      SortBy(data.ranks, [](const Rank& rank) { return rank.number; });
  for (Thread& thread : data.threads) {
    renumbering.Apply(thread.rank);
  }
  for (Stream& stream : data.streams) {
    renumbering.Apply(stream.rank);
  }
}

void SortThreads(GraphData& data) {
  const auto renumbering = SortBy(data.threads, [&](const Thread& thread) {
    return std::tuple(thread.rank, thread.role, data.strings.view(thread.name));
  });
  for (Op& op : data.ops) {
    renumbering.Apply(op.thread);
  }
  for (Call& call : data.calls) {
    renumbering.Apply(call.thread);
  }
}

void SortStreams(GraphData& data) {
  const auto renumbering = SortBy(data.streams, [](const Stream& stream) {
    return std::tuple(stream.rank, stream.device, stream.number);
  });
  for (Call& call : data.calls) {
    renumbering.Apply(call.stream);
  }
  for (Activity& activity : data.activities) {
    renumbering.Apply(activity.stream);
  }
}

Status SortOps(GraphData& data) {
  std::vector<uint32_t> order = PreOrder(data);
  if (order.size() != data.ops.size()) {
    return CycleOfParents(data, order);
  }
  const Renumbering<OpId> renumbering(std::move(order));
  renumbering.Permute(data.ops);
  for (Op& op : data.ops) {
    renumbering.Apply(op.parent);
  }
  for (Call& call : data.calls) {
    renumbering.Apply(call.op);
  }
  if (!renumbering.is_identity()) {
    SortTensors(data);
  }
  return {};
}

void SortCalls(GraphData& data) {
  TimedOrder timed(data.threads.size(), data.calls.size());
  for (const Call& call : data.calls) {
    timed.Add(call.thread.value, call.measured);
  }
  const Renumbering<CallId> renumbering(std::move(timed).Sort().order);
  renumbering.Permute(data.calls);
  for (Call& call : data.calls) {
    renumbering.Apply(call.event);
  }
  for (Activity& activity : data.activities) {
    renumbering.Apply(activity.call);
  }
  for (HostWait& wait : data.host_waits) {
    renumbering.Apply(wait.call);
  }
}

void SortActivities(GraphData& data) {
  TimedOrder timed(data.streams.size(), data.activities.size());
  for (const Activity& activity : data.activities) {
    timed.Add(activity.stream.value, activity.measured);
  }
  const Renumbering<ActivityId> renumbering(std::move(timed).Sort().order);
  renumbering.Permute(data.activities);
  for (StreamWait& wait : data.stream_waits) {
    renumbering.Apply(wait.before);
    renumbering.Apply(wait.after);
  }
  for (HostWait& wait : data.host_waits) {
    renumbering.Apply(wait.before);
  }
  for (MatchedCollective& collective : data.collectives) {
    for (ActivityId& activity : collective.activities) {
      renumbering.Apply(activity);
    }
    // Activities are in the order of ranks.
    std::ranges::sort(collective.activities);
  }
}

// Shapes in the order of first use.
void SortShapes(GraphData& data) {
  IdVector<ShapeId, ShapeId> new_of(data.shapes.size());
  IdVector<ShapeId, KernelShape> sorted;
  for (Activity& activity : data.activities) {
    ShapeId& id = new_of[activity.shape];
    if (!id.valid()) {
      id = sorted.push_back(std::move(data.shapes[activity.shape]));
    }
    activity.shape = id;
  }
  data.shapes = std::move(sorted);
}

Status SortCollectives(GraphData& data) {
  SortBy(data.collectives, [](const MatchedCollective& collective) {
    return collective.activities.empty() ? ActivityId{}
                                         : collective.activities.front();
  });
  for (Activity& activity : data.activities) {
    activity.collective = CollectiveId{};
  }
  for (const CollectiveId id : data.collectives.ids()) {
    for (const ActivityId member : data.collectives[id].activities) {
      Activity& activity = data.activities[member];
      if (activity.collective.valid()) {
        return Broken(data, member,
                      "it is in two collectives, or twice in one");
      }
      activity.collective = id;
    }
  }
  return {};
}

// Sorts waits by `key`; of equal ones a recorded wait outlives an inferred one.
template <typename Wait, typename Key>
void SortWaits(std::vector<Wait>& waits, Key key) {
  std::ranges::sort(waits, [&](const Wait& a, const Wait& b) {
    return std::tuple(key(a), a.inferred) < std::tuple(key(b), b.inferred);
  });
  const auto same = [&](const Wait& a, const Wait& b) {
    return key(a) == key(b);
  };
  waits.erase(std::unique(waits.begin(), waits.end(), same), waits.end());
}

}  // namespace

Status Canonicalize(GraphData& data) {
  SortRanks(data);
  SortThreads(data);
  SortStreams(data);
  RETURN_IF_ERROR(SortOps(data));
  SortCalls(data);
  SortActivities(data);
  SortShapes(data);
  RETURN_IF_ERROR(SortCollectives(data));
  SortWaits(data.stream_waits, [](const StreamWait& wait) {
    return std::tuple(wait.after, wait.before);
  });
  SortWaits(data.host_waits, [](const HostWait& wait) {
    return std::tuple(wait.call, wait.before);
  });
  return {};
}

OpId GraphBuilder::AddOp(Op op, std::vector<Tensor> inputs,
                         std::vector<Tensor> outputs) {
  op.inputs = AddTensors(std::move(inputs));
  op.outputs = AddTensors(std::move(outputs));
  return data_.ops.push_back(op);
}

ActivityId GraphBuilder::AddActivity(Activity activity,
                                     const KernelShape& shape) {
  activity.shape = shapes_.Insert(shape);
  activity.collective = CollectiveId{};
  return data_.activities.push_back(activity);
}

Result<Graph> GraphBuilder::Build() && {
  data_.shapes = std::move(shapes_).Take();
  RETURN_IF_ERROR(VerifyIds(data_));
  RETURN_IF_ERROR(Canonicalize(data_));
  return Graph::Make(std::move(data_));
}

IdRange<TensorId> GraphBuilder::AddTensors(std::vector<Tensor> tensors) {
  const uint32_t first = data_.tensors.size();
  for (Tensor& tensor : tensors) {
    data_.tensors.push_back(std::move(tensor));
  }
  return {.first = first, .count = data_.tensors.size() - first};
}

}  // namespace stepcast::ir
