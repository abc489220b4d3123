// The host's segments of a graph that has no times: by the order
// of activities on streams and by phase.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "base/ids.h"
#include "ir/graph.h"
#include "timeline/predicted_plan.h"

namespace stepcast::timeline {
namespace {

// What the order of activities on the streams says about two threads of a rank
// that launch them.
//
//   main      f1 f2             o1 f3 f4             o2
//   autograd        b1 b2 b3             b4 b5 b6
//   stream 7  f1 f2 b1    b3    o1 f3 f4 b4 b5 b6    o2     two bursts

// One thing that a thread does, as a position in the order it does them.
struct LaunchedBy {
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  uint32_t item = kNone;  // kNone: of no interest.
  /// Of the main thread: may run while autograd's thread runs.
  bool meanwhile = false;
};

// Items of autograd's thread between which the main thread did nothing but
// what may run meanwhile.
struct Burst {
  size_t first = 0;
  size_t last = 0;
  /// So many items of the main thread come before its start.
  size_t main_before = 0;
  /// So many come before its end, with those that run meanwhile.
  size_t main_until_end = 0;
  /// The first one after it.
  size_t next_main = std::numeric_limits<size_t>::max();
};

// Of one item of autograd's thread; as in Burst.
struct Place {
  size_t main_before = 0;
  size_t main_until = 0;
  size_t next_main = std::numeric_limits<size_t>::max();
};

class PlaceFinder {
 public:
  PlaceFinder(const ir::GraphData& data,
              const IdVector<ir::CallId, LaunchedBy>& calls, ir::ThreadId main,
              ir::ThreadId autograd, size_t items)
      : data_(data),
        calls_(calls),
        main_(main),
        autograd_(autograd),
        places_(items) {}

  std::vector<Place> Run() {
    for (const ir::ActivityId id : data_.activities.ids()) {
      Visit(id, [this](Place& place) {
        place.main_before = std::max(place.main_before, seen_.main_before);
        place.main_until = std::max(place.main_until, seen_.main_until);
      });
    }
    stream_ = {};
    for (uint32_t i = data_.activities.size(); i-- > 0;) {
      Visit(ir::ActivityId{i}, [this](Place& place) {
        place.next_main = std::min(place.next_main, seen_.next_main);
      });
    }
    return std::move(places_);
  }

 private:
  template <typename Take>
  void Visit(ir::ActivityId id, Take take) {
    const ir::Activity& activity = data_.activities[id];
    if (activity.stream != stream_) {
      stream_ = activity.stream;
      seen_ = {};
    }
    if (!activity.call.valid() ||
        calls_[activity.call].item == LaunchedBy::kNone) {
      return;
    }
    const LaunchedBy& by = calls_[activity.call];
    const ir::ThreadId thread = data_.calls[activity.call].thread;
    if (thread == autograd_) {
      take(places_[by.item]);
    } else if (thread == main_) {
      const size_t item = by.item;
      seen_.main_until = std::max(seen_.main_until, item + 1);
      if (!by.meanwhile) {
        seen_.main_before = std::max(seen_.main_before, item + 1);
        seen_.next_main = std::min(seen_.next_main, item);
      }
    }
  }

  const ir::GraphData& data_;
  const IdVector<ir::CallId, LaunchedBy>& calls_;
  const ir::ThreadId main_;
  const ir::ThreadId autograd_;
  std::vector<Place> places_;
  ir::StreamId stream_{};
  Place seen_{};  // Of the main thread, so far on the stream.
};

std::vector<Burst> FindBursts(const ir::GraphData& data,
                              const IdVector<ir::CallId, LaunchedBy>& calls,
                              ir::ThreadId main, ir::ThreadId autograd,
                              size_t items) {
  const std::vector<Place> places =
      PlaceFinder(data, calls, main, autograd, items).Run();
  std::vector<Burst> bursts;
  for (size_t i = 0; i < items; ++i) {
    const Place& place = places[i];
    if (bursts.empty() || place.main_before > bursts.back().next_main) {
      bursts.push_back({.first = i});
    }
    Burst& burst = bursts.back();
    burst.last = i;
    burst.main_before = std::max(burst.main_before, place.main_before);
    burst.main_until_end = std::max(burst.main_until_end, place.main_until);
    burst.next_main = std::min(burst.next_main, place.next_main);
  }
  return bursts;
}

// A top-level op with its calls, or one call outside of all ops.
struct Item {
  ir::OpId op{};
  ir::Phase phase = ir::Phase::kUnknown;
  std::vector<ir::CallId> calls;
};

// In the order of the ops. A call outside of all ops is placed before the op of
// the next call that has one, else at the end.
std::vector<Item> ItemsOf(const ir::GraphData& data,
                          const IdVector<ir::OpId, ir::OpId>& tops,
                          ir::ThreadId thread) {
  std::map<ir::OpId, std::vector<ir::CallId>> calls;   // In each op.
  std::map<ir::OpId, std::vector<ir::CallId>> before;  // Outside, before it.
  std::vector<ir::CallId> outside;
  for (const ir::CallId id : OfThread(data.calls, thread)) {
    const ir::OpId op = data.calls[id].op;
    const ir::OpId top = op.valid() ? tops[op] : ir::OpId{};
    if (!top.valid()) {
      outside.push_back(id);
      continue;
    }
    calls[top].push_back(id);
    std::vector<ir::CallId>& waiting = before[top];
    waiting.insert(waiting.end(), outside.begin(), outside.end());
    outside.clear();
  }
  std::vector<Item> items;
  for (const ir::OpId id : OfThread(data.ops, thread)) {
    if (tops[id] != id) {
      continue;
    }
    for (const ir::CallId call : before[id]) {
      items.push_back({.op = {}, .phase = data.ops[id].phase, .calls = {call}});
    }
    items.push_back(
        {.op = id, .phase = data.ops[id].phase, .calls = calls[id]});
  }
  for (const ir::CallId call : outside) {
    items.push_back({.op = {}, .phase = ir::Phase::kUnknown, .calls = {call}});
  }
  return items;
}

// Where the main thread waits for a burst of autograd's: the handoff is before
// item `start`, and it goes on with item `finish`.
struct Wait {
  size_t start = 0;
  size_t finish = 0;
};

bool EndsForward(ir::Phase phase) {
  return phase == ir::Phase::kBackward || phase == ir::Phase::kOptimizer;
}

// Where the main thread waits for a burst, by the phases of its items. It was
// done with what came before at item `begin`.
Wait FindWait(const std::vector<Item>& items, size_t begin,
              const Burst& burst) {
  const size_t size = items.size();
  // Streams that contradict each other may name an item before `begin`.
  const size_t end = std::max(begin, std::min(burst.next_main, size));
  size_t after_forward = begin;
  for (size_t i = begin; i < end; ++i) {
    if (items[i].phase == ir::Phase::kForward) {
      after_forward = i + 1;
    }
  }
  Wait wait{.start = end, .finish = end};
  if (after_forward > begin) {  // Otherwise no phases are known: after all.
    size_t start = after_forward;
    while (start < end && !EndsForward(items[start].phase)) {
      ++start;
    }
    const bool found = start < size && EndsForward(items[start].phase);
    wait.start = found ? start : after_forward;
    wait.finish = wait.start;
  }
  wait.start = std::clamp(wait.start, std::min(burst.main_before, end), end);
  wait.finish = std::max(wait.start, wait.finish);
  while (wait.finish < end &&
         (items[wait.finish].phase == ir::Phase::kBackward ||
          wait.finish < burst.main_until_end)) {
    ++wait.finish;
  }
  return wait;
}

void PushItem(const Item& item, bool with_gap,
              std::vector<HostSegment>& segments) {
  const auto push = [&](cost::HostKind kind, ir::CallId call) {
    segments.push_back({.kind = kind, .op = item.op, .call = call});
  };
  if (with_gap) {
    push(cost::HostKind::kBetweenOps, {});
  }
  if (item.calls.empty()) {
    push(cost::HostKind::kNoLaunch, {});
    return;
  }
  for (const ir::CallId call : item.calls) {
    if (item.op.valid()) {
      push(call == item.calls.front() ? cost::HostKind::kBeforeLaunch
                                      : cost::HostKind::kBetweenLaunches,
           {});
    }
    push(cost::HostKind::kCall, call);
  }
  if (item.op.valid()) {
    push(cost::HostKind::kAfterLaunch, {});
  }
}

// The segments of a rank's threads.
class RankPlanner {
 public:
  RankPlanner(const ir::GraphData& data, ir::RankId rank, HostPlan& plan)
      : data_(data), rank_(rank), plan_(plan) {}

  void Run(const IdVector<ir::OpId, ir::OpId>& tops);

 private:
  // A burst of one of autograd's threads, by its segments.
  struct Awaited {
    ir::ThreadId thread{};
    uint32_t first_segment = 0;
    uint32_t last_segment = 0;
    Wait wait{};
  };

  void AddAutograd(ir::ThreadId id, const std::vector<Item>& items);
  void NoteCalls(const std::vector<Item>& items);
  void AddMain();

  const ir::GraphData& data_;
  const ir::RankId rank_;
  HostPlan& plan_;
  ir::ThreadId main_{};
  std::vector<Item> main_items_;
  IdVector<ir::CallId, LaunchedBy> calls_;
  std::vector<Awaited> awaited_;
};

void RankPlanner::NoteCalls(const std::vector<Item>& items) {
  for (uint32_t i = 0; i < items.size(); ++i) {
    for (const ir::CallId call : items[i].calls) {
      calls_[call] = {.item = i,
                      .meanwhile = items[i].phase == ir::Phase::kBackward};
    }
  }
}

void RankPlanner::AddAutograd(ir::ThreadId id, const std::vector<Item>& items) {
  std::vector<HostSegment>& segments = plan_.threads[id];
  std::vector<uint32_t> first_segments;  // By item, and one more.
  for (const Item& item : items) {
    first_segments.push_back(static_cast<uint32_t>(segments.size()));
    PushItem(item, true, segments);
  }
  first_segments.push_back(static_cast<uint32_t>(segments.size()));
  if (!main_.valid()) {
    return;
  }
  NoteCalls(items);
  size_t begin = 0;
  for (const Burst& burst :
       FindBursts(data_, calls_, main_, id, items.size())) {
    const Wait wait = FindWait(main_items_, begin, burst);
    begin = wait.finish;
    awaited_.push_back({.thread = id,
                        .first_segment = first_segments[burst.first],
                        .last_segment = first_segments[burst.last + 1] - 1,
                        .wait = wait});
  }
}

void RankPlanner::AddMain() {
  std::map<size_t, uint32_t> starts;  // The handoff segments before items.
  std::map<size_t, uint32_t> finishes;
  for (const Awaited& awaited : awaited_) {
    starts[awaited.wait.start] = 0;
    finishes[awaited.wait.finish] = 0;
  }
  std::vector<HostSegment>& segments = plan_.threads[main_];
  for (size_t i = 0; i <= main_items_.size(); ++i) {
    const bool at_end = i == main_items_.size();
    bool with_gap = true;
    for (std::map<size_t, uint32_t>* overs : {&starts, &finishes}) {
      if (const auto over = overs->find(i); over != overs->end()) {
        over->second = static_cast<uint32_t>(segments.size());
        segments.push_back({.kind = cost::HostKind::kHandoff,
                            .op = at_end ? ir::OpId{} : main_items_[i].op});
        with_gap = false;
      }
    }
    if (!at_end) {
      PushItem(main_items_[i], with_gap, segments);
    } else if (with_gap) {
      segments.push_back({.kind = cost::HostKind::kBetweenOps});
    }
  }
  for (const Awaited& awaited : awaited_) {
    plan_.handoffs.push_back({.from = main_,
                              .from_segment = starts[awaited.wait.start],
                              .to = awaited.thread,
                              .to_segment = awaited.first_segment});
    plan_.handoffs.push_back({.from = awaited.thread,
                              .from_segment = awaited.last_segment,
                              .to = main_,
                              .to_segment = finishes[awaited.wait.finish]});
  }
}

void RankPlanner::Run(const IdVector<ir::OpId, ir::OpId>& tops) {
  for (const ir::ThreadId id : data_.threads.ids()) {  // Main threads first.
    const ir::Thread& thread = data_.threads[id];
    if (thread.rank != rank_) {
      continue;
    }
    std::vector<Item> items = ItemsOf(data_, tops, id);
    if (thread.role == ir::ThreadRole::kMain && !main_.valid()) {
      main_ = id;
      main_items_ = std::move(items);
      calls_ = IdVector<ir::CallId, LaunchedBy>(data_.calls.size());
      NoteCalls(main_items_);
    } else if (thread.role == ir::ThreadRole::kAutograd) {
      AddAutograd(id, items);
    } else {
      for (const Item& item : items) {
        PushItem(item, true, plan_.threads[id]);
      }
    }
  }
  if (main_.valid()) {
    AddMain();
  }
}

}  // namespace

HostPlan OrderedPlan(const ir::GraphData& data) {
  const IdVector<ir::OpId, ir::OpId> tops = TopLevelOps(data);
  HostPlan plan;
  plan.threads =
      IdVector<ir::ThreadId, std::vector<HostSegment>>(data.threads.size());
  plan.starts = IdVector<ir::ThreadId, Duration>(data.threads.size());
  for (const ir::RankId rank : data.ranks.ids()) {
    RankPlanner(data, rank, plan).Run(tops);
  }
  return plan;
}

}  // namespace stepcast::timeline
