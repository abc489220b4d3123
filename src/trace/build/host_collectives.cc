#include "trace/build/host_collectives.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

#include "trace/classify/classify.h"
#include "trace/classify/classify_all.h"
#include "trace/read/profiler_trace.h"

namespace stepcast::trace {
namespace {

// Putting a thread to sleep and waking it takes tens of microseconds, so that
// what is shorter is not worth a wait.
constexpr Duration kShortestPause = std::chrono::microseconds(50);

// Collectives that are asked for and not begun, at most: process groups have a
// few threads each.
constexpr size_t kMostOpen = 64;

class HostCollectiveFinder {
 public:
  HostCollectiveFinder(const RankTrace& rank, const Rules& rules)
      : linked_(*rank.profiler),
        trace_(linked_.trace),
        rules_(rules),
        arguments_(rank),
        known_(trace_.strings.size()) {}

  HostCollectives Run() {
    if (!trace_.device_events.empty() || !FindEvents()) {
      return {};
    }
    for (const uint32_t range : ranges_) {
      Match(range);
    }
    std::ranges::stable_sort(found_.list, {}, &HostCollective::asked);
    FindStarts();
    FindPauses();
    return std::move(found_);
  }

 private:
  const HostEvent& EventAt(uint32_t index) const {
    return trace_.host_events[index];
  }
  Duration EndOf(uint32_t index) const {
    return EventAt(index).start + EventAt(index).duration;
  }

  // The family of an op or range by its name; empty if no rule knows it.
  std::string_view FamilyOf(uint32_t index) {
    std::optional<const KernelRule*>& rule = known_[EventAt(index).name.value];
    if (!rule) {
      rule = rules_.FindOp(trace_.strings.view(EventAt(index).name));
    }
    return *rule == nullptr ? std::string_view() : (*rule)->family;
  }

  // Ranges on threads without ops and ops on the others, both by start.
  bool FindEvents() {
    std::vector<bool> has_ops(trace_.threads.size());
    for (const HostEvent& event : trace_.host_events) {
      if (event.kind == HostEventKind::kOp) {
        has_ops[event.thread] = true;
      }
    }
    for (uint32_t i = 0; i < trace_.host_events.size(); ++i) {
      if (FamilyOf(i) == "collective") {
        const bool is_op = EventAt(i).kind == HostEventKind::kOp;
        if (is_op || !has_ops[EventAt(i).thread]) {
          (is_op ? ops_ : ranges_).push_back(i);
        }
      }
    }
    const auto start = [this](uint32_t i) { return EventAt(i).start; };
    std::ranges::stable_sort(ops_, {}, start);
    std::ranges::stable_sort(ranges_, {}, start);
    if (ranges_.empty()) {
      return false;
    }
    for (const uint32_t op : ops_) {
      if (const auto shape = ShapeOf({op})) {
        open_[shape->kind].push_back(op);
      }
    }
    return true;
  }

  OpContext ContextOf(uint32_t event) {
    return {.name = trace_.strings.view(EventAt(event).name),
            .arguments = arguments_.Find(event)};
  }

  std::optional<ir::Collective> ShapeOf(const std::vector<uint32_t>& events) {
    std::vector<OpContext> contexts;
    contexts.reserve(events.size());
    for (const uint32_t event : events) {
      contexts.push_back(ContextOf(event));
    }
    // Without a name, which would be taken for a kernel's.
    const DeviceFacts facts{.name = {},
                            .world_size = trace_.info.world_size.value_or(0)};
    const ir::KernelShape shape = ClassifyDevice(rules_, facts, contexts);
    const auto* const collective = std::get_if<ir::Collective>(&shape);
    return collective == nullptr ? std::nullopt : std::optional(*collective);
  }

  // The first op of the same kind and size that no range has yet and that began
  // before. Profilers do not show the types, and so the size, of a list.
  void Match(uint32_t range) {
    const auto wanted = ShapeOf({range});
    if (!wanted) {
      return;
    }
    std::vector<uint32_t>& open = open_[wanted->kind];
    for (size_t i = 0; i < std::min(open.size(), kMostOpen); ++i) {
      const uint32_t op = open[i];
      if (EventAt(op).start > EventAt(range).start) {
        return;
      }
      const auto asked = ShapeOf({op});
      if (asked->dtype != ir::DType::kUnknown &&
          asked->bytes != wanted->bytes) {
        continue;
      }
      open.erase(open.begin() + static_cast<ptrdiff_t>(i));
      found_.list.push_back({.range = range,
                             .op = op,
                             .asked = std::min(EndOf(op), EventAt(range).start),
                             .end = EndOf(range),
                             .shape = ShapeOf({range, op}).value_or(*wanted)});
      return;
    }
  }

  void FindStarts() {
    std::map<uint32_t, Duration> free;  // When a thread's last range ended.
    std::vector<HostCollective*> by_start;
    for (HostCollective& collective : found_.list) {
      by_start.push_back(&collective);
    }
    std::ranges::stable_sort(by_start, {}, [this](const HostCollective* item) {
      return EventAt(item->range).start;
    });
    for (HostCollective* item : by_start) {
      const HostEvent& range = EventAt(item->range);
      const auto [last, is_first] = free.try_emplace(range.thread, item->asked);
      item->start = std::clamp(last->second, item->asked, range.start);
      last->second = item->end;
    }
  }

  // Starts and ends of all events of the threads that ask, and what is open
  // after them.
  struct Boundary {
    Duration time{};
    uint32_t event = kNoEvent;  // The innermost one open from here on.
  };

  std::map<uint32_t, std::vector<Boundary>> FindBoundaries() const {
    std::map<uint32_t, std::vector<Boundary>> threads;
    for (const HostCollective& collective : found_.list) {
      threads[EventAt(collective.op).thread];
    }
    std::vector<uint32_t> open;
    const auto close_until = [&](std::vector<Boundary>& out, Duration time) {
      while (!open.empty() && EndOf(open.back()) <= time) {
        const Duration end = EndOf(open.back());
        open.pop_back();
        out.push_back(
            {.time = end, .event = open.empty() ? kNoEvent : open.back()});
      }
    };
    for (auto& [thread, out] : threads) {
      open.clear();
      for (uint32_t i = 0; i < trace_.host_events.size(); ++i) {
        if (EventAt(i).thread == thread) {
          close_until(out, EventAt(i).start);
          open.push_back(i);
          out.push_back({.time = EventAt(i).start, .event = i});
        }
      }
      close_until(out, Duration::max());
      // Events that overlap without nesting end in another order.
      std::ranges::stable_sort(out, {}, &Boundary::time);
    }
    return threads;
  }

  // Whether an op computes in the time that no op inside it takes.
  bool Computes(uint32_t event) {
    return event != kNoEvent && EventAt(event).kind == HostEventKind::kOp &&
           FamilyOf(event) != kNoFamily;
  }

  void FindPauses() {
    const auto threads = FindBoundaries();
    std::map<std::tuple<uint32_t, Duration>, HostPause> pauses;
    for (uint32_t i = 0; i < found_.list.size(); ++i) {
      const HostCollective& collective = found_.list[i];
      const uint32_t thread = EventAt(collective.op).thread;
      const Duration end = collective.end;
      const std::vector<Boundary>& boundaries = threads.at(thread);
      const auto next =
          std::ranges::upper_bound(boundaries, end, {}, &Boundary::time);
      if (next == boundaries.begin() || next == boundaries.end()) {
        continue;
      }
      const Boundary& from = *std::prev(next);
      const Duration start = std::max(from.time, EndOf(collective.op));
      const Duration before = end - start;
      // Most of it before the collective's end, or that end says nothing.
      if (before < kShortestPause || next->time - end > before ||
          Computes(from.event)) {
        continue;
      }
      HostPause& pause = pauses[{thread, next->time}];
      pause.start =
          pause.collectives.empty() ? start : std::min(pause.start, start);
      pause.thread = thread;
      pause.event = from.event;
      pause.end = next->time;
      pause.collectives.push_back(i);
    }
    for (auto& [key, pause] : pauses) {
      found_.pauses.push_back(std::move(pause));
    }
  }

  const LinkedTrace& linked_;
  const ProfilerTrace& trace_;
  const Rules& rules_;
  ArgumentTable arguments_;
  std::vector<std::optional<const KernelRule*>> known_;  // By name.
  std::vector<uint32_t> ranges_;
  std::vector<uint32_t> ops_;
  /// Ops that no range has yet, in order.
  std::map<ir::CollectiveKind, std::vector<uint32_t>> open_;
  HostCollectives found_;
};

}  // namespace

HostCollectives FindHostCollectives(const RankTrace& rank, const Rules& rules) {
  return HostCollectiveFinder(rank, rules).Run();
}

}  // namespace stepcast::trace
