// The host's pieces of a graph that has no times: by the order
// of works on streams and by phase.
#include <algorithm>
#include <map>

#include "cost/overheads/launch_order.h"
#include "cost/overheads/predicted_plan.h"

namespace stepcast::cost {
namespace {

// A top-level op with its calls, or one call outside of all ops.
struct Item {
  ir::OpId op{};
  ir::Phase phase = ir::Phase::kUnknown;
  std::vector<ir::CallId> calls;
};

// In the order of the ops. A call outside of all ops stands before the op of
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

// Where the main thread waits for a burst of autograd's: it hands over before
// item `start` and goes on with item `finish`.
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
  size_t behind_forward = begin;
  for (size_t i = begin; i < end; ++i) {
    if (items[i].phase == ir::Phase::kForward) {
      behind_forward = i + 1;
    }
  }
  Wait wait{.start = end, .finish = end};
  if (behind_forward > begin) {  // Otherwise no phases are known: behind all.
    size_t start = behind_forward;
    while (start < end && !EndsForward(items[start].phase)) {
      ++start;
    }
    const bool found = start < size && EndsForward(items[start].phase);
    wait.start = found ? start : behind_forward;
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

void PushItem(const Item& item, bool with_gap, std::vector<HostPiece>& pieces) {
  const auto push = [&](HostKind kind, ir::CallId call) {
    pieces.push_back({.kind = kind, .op = item.op, .call = call});
  };
  if (with_gap) {
    push(HostKind::kBetweenOps, {});
  }
  if (item.calls.empty()) {
    push(HostKind::kNoLaunch, {});
    return;
  }
  for (const ir::CallId call : item.calls) {
    if (item.op.valid()) {
      push(call == item.calls.front() ? HostKind::kBeforeLaunch
                                      : HostKind::kBetweenLaunches,
           {});
    }
    push(HostKind::kCall, call);
  }
  if (item.op.valid()) {
    push(HostKind::kAfterLaunch, {});
  }
}

// The pieces of a rank's threads.
class RankPlanner {
 public:
  RankPlanner(const ir::GraphData& data, ir::RankId rank, HostPlan& plan)
      : data_(data), rank_(rank), plan_(plan) {}

  void Run(const IdVector<ir::OpId, ir::OpId>& tops);

 private:
  // A burst of one of autograd's threads, by its pieces.
  struct Awaited {
    ir::ThreadId thread{};
    uint32_t first_piece = 0;
    uint32_t last_piece = 0;
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
  std::vector<HostPiece>& pieces = plan_.threads[id];
  std::vector<uint32_t> first_pieces;  // By item, and one more.
  for (const Item& item : items) {
    first_pieces.push_back(static_cast<uint32_t>(pieces.size()));
    PushItem(item, true, pieces);
  }
  first_pieces.push_back(static_cast<uint32_t>(pieces.size()));
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
                        .first_piece = first_pieces[burst.first],
                        .last_piece = first_pieces[burst.last + 1] - 1,
                        .wait = wait});
  }
}

void RankPlanner::AddMain() {
  std::map<size_t, uint32_t> starts;  // The hand-over pieces before items.
  std::map<size_t, uint32_t> finishes;
  for (const Awaited& awaited : awaited_) {
    starts[awaited.wait.start] = 0;
    finishes[awaited.wait.finish] = 0;
  }
  std::vector<HostPiece>& pieces = plan_.threads[main_];
  for (size_t i = 0; i <= main_items_.size(); ++i) {
    const bool at_end = i == main_items_.size();
    bool with_gap = true;
    for (std::map<size_t, uint32_t>* overs : {&starts, &finishes}) {
      if (const auto over = overs->find(i); over != overs->end()) {
        over->second = static_cast<uint32_t>(pieces.size());
        pieces.push_back({.kind = HostKind::kHandOver,
                          .op = at_end ? ir::OpId{} : main_items_[i].op});
        with_gap = false;
      }
    }
    if (!at_end) {
      PushItem(main_items_[i], with_gap, pieces);
    } else if (with_gap) {
      pieces.push_back({.kind = HostKind::kBetweenOps});
    }
  }
  for (const Awaited& awaited : awaited_) {
    plan_.hand_overs.push_back({.from = main_,
                                .from_piece = starts[awaited.wait.start],
                                .to = awaited.thread,
                                .to_piece = awaited.first_piece});
    plan_.hand_overs.push_back({.from = awaited.thread,
                                .from_piece = awaited.last_piece,
                                .to = main_,
                                .to_piece = finishes[awaited.wait.finish]});
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
      IdVector<ir::ThreadId, std::vector<HostPiece>>(data.threads.size());
  plan.starts = IdVector<ir::ThreadId, Duration>(data.threads.size());
  for (const ir::RankId rank : data.ranks.ids()) {
    RankPlanner(data, rank, plan).Run(tops);
  }
  return plan;
}

}  // namespace stepcast::cost
