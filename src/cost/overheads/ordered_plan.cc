// The host's pieces of a graph that has no times: by order and by phase.
#include <algorithm>
#include <optional>

#include "cost/overheads/predicted_plan.h"

namespace stepcast::cost {
namespace {

constexpr uint32_t kNoPiece = ir::OpId::kNone;

// A top-level op with its calls, or one call outside of all ops.
struct Item {
  ir::OpId op{};
  ir::Phase phase = ir::Phase::kUnknown;
  std::vector<ir::CallId> calls;
};

// All ops or calls of one thread; they stand together.
template <typename IdType, typename Thing>
IdRange<IdType> OfThread(const IdVector<IdType, Thing>& things,
                         ir::ThreadId thread) {
  const auto first =
      std::ranges::lower_bound(things.items(), thread, {}, &Thing::thread);
  const auto last =
      std::ranges::upper_bound(things.items(), thread, {}, &Thing::thread);
  return {static_cast<uint32_t>(first - things.items().begin()),
          static_cast<uint32_t>(last - first)};
}

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

// Where the main thread waits for autograd's: it hands over before item
// `start` and goes on with item `finish`.
struct Wait {
  size_t start = 0;
  size_t finish = 0;
};

Wait FindWait(const std::vector<Item>& items) {
  size_t behind_forward = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].phase == ir::Phase::kForward) {
      behind_forward = i + 1;
    }
  }
  if (behind_forward == 0) {  // No phases are known: behind all.
    return {.start = items.size(), .finish = items.size()};
  }
  size_t start = behind_forward;
  while (start < items.size() && items[start].phase != ir::Phase::kBackward &&
         items[start].phase != ir::Phase::kOptimizer) {
    ++start;
  }
  if (start == items.size()) {
    return {.start = behind_forward, .finish = behind_forward};
  }
  size_t finish = start;
  while (finish < items.size() && items[finish].phase == ir::Phase::kBackward) {
    ++finish;
  }
  return {.start = start, .finish = finish};
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

class MainThread {
 public:
  MainThread(std::vector<Item> items, std::optional<Wait> wait)
      : items_(std::move(items)), wait_(wait) {}

  std::vector<HostPiece> Pieces() {
    std::vector<HostPiece> pieces;
    for (size_t i = 0; i <= items_.size(); ++i) {
      bool with_gap = true;
      const ir::OpId next = i < items_.size() ? items_[i].op : ir::OpId{};
      if (wait_ && i == wait_->start) {
        start_piece = static_cast<uint32_t>(pieces.size());
        pieces.push_back({.kind = HostKind::kHandOver, .op = next});
        with_gap = false;
      }
      if (wait_ && i == wait_->finish) {
        finish_piece = static_cast<uint32_t>(pieces.size());
        pieces.push_back({.kind = HostKind::kHandOver, .op = next});
        with_gap = false;
      }
      if (i < items_.size()) {
        PushItem(items_[i], with_gap, pieces);
      } else if (with_gap) {
        pieces.push_back({.kind = HostKind::kBetweenOps});
      }
    }
    return pieces;
  }

  uint32_t start_piece = kNoPiece;
  uint32_t finish_piece = kNoPiece;

 private:
  std::vector<Item> items_;
  std::optional<Wait> wait_;
};

}  // namespace

HostPlan OrderedPlan(const ir::GraphData& data) {
  const IdVector<ir::OpId, ir::OpId> tops = TopLevelOps(data);
  HostPlan plan;
  plan.threads =
      IdVector<ir::ThreadId, std::vector<HostPiece>>(data.threads.size());
  plan.starts = IdVector<ir::ThreadId, Duration>(data.threads.size());
  for (const ir::RankId rank : data.ranks.ids()) {
    ir::ThreadId main{};
    std::vector<ir::ThreadId> autograd;
    for (const ir::ThreadId id : data.threads.ids()) {
      const ir::Thread& thread = data.threads[id];
      if (thread.rank != rank) {
        continue;
      }
      if (thread.role == ir::ThreadRole::kMain && !main.valid()) {
        main = id;
        continue;
      }
      for (const Item& item : ItemsOf(data, tops, id)) {
        PushItem(item, true, plan.threads[id]);
      }
      if (thread.role == ir::ThreadRole::kAutograd &&
          !plan.threads[id].empty()) {
        autograd.push_back(id);
      }
    }
    if (!main.valid()) {
      continue;
    }
    std::vector<Item> items = ItemsOf(data, tops, main);
    const Wait wait = FindWait(items);
    MainThread thread(std::move(items), autograd.empty()
                                            ? std::nullopt
                                            : std::optional<Wait>(wait));
    plan.threads[main] = thread.Pieces();
    for (const ir::ThreadId id : autograd) {
      const auto last = static_cast<uint32_t>(plan.threads[id].size()) - 1;
      plan.hand_overs.push_back({.from = main,
                                 .from_piece = thread.start_piece,
                                 .to = id,
                                 .to_piece = 0});
      plan.hand_overs.push_back({.from = id,
                                 .from_piece = last,
                                 .to = main,
                                 .to_piece = thread.finish_piece});
    }
  }
  return plan;
}

}  // namespace stepcast::cost
