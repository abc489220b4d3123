#include "trace/link/link.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/text/text_table.h"
#include "trace/classify/sizers.h"
#include "trace/link/find_steps.h"
#include "trace/read/oddities.h"

namespace stepcast::trace {
namespace {

// Sets of families: a bit for each row of AllSizers, one for ops that no rule
// names.
constexpr uint32_t kUnnamed = uint32_t{1} << 31;
constexpr uint32_t kAll = ~uint32_t{0};

// What an op does itself, and what inside it shows that it does not.
struct OpTraits {
  uint32_t family = 0;    // Empty: launches nothing.
  uint32_t excluded = 0;  // Families of ops inside that do its work.
};

OpTraits TraitsOf(const KernelRule* rule) {
  if (rule == nullptr) {
    // Unknown: its own work only if nothing inside activities.
    return {.family = kUnnamed, .excluded = kAll};
  }
  if (rule->family == kNoFamily) {
    return {};
  }
  const auto sizers = AllSizers();
  const auto row =
      std::ranges::find(sizers, rule->family, &FamilySizer::family);
  if (row == sizers.end()) {
    return {.family = kUnnamed, .excluded = kAll};
  }
  const uint32_t bit = uint32_t{1} << (row - sizers.begin());
  // Where there is no kernel for a whole list of tensors, PyTorch calls the
  // op for one tensor after the other.
  const bool is_list =
      rule->family == "optimizer_step" || rule->family == "concat";
  return {.family = bit, .excluded = is_list ? kAll : bit};
}

}  // namespace

std::vector<bool> FindLaunchers(const ExecutionTrace& trace,
                                const Rules& rules) {
  std::vector<std::optional<OpTraits>> known(trace.strings.size());
  std::vector<uint32_t> inside(trace.nodes.size(), 0);
  std::vector<bool> launches(trace.nodes.size(), false);
  // Children come after their parents, so they are seen first from the back.
  for (size_t i = trace.nodes.size(); i-- > 0;) {
    const ExecutionNode& node = trace.nodes[i];
    uint32_t families = inside[i];
    if (node.kind == NodeKind::kOp) {
      std::optional<OpTraits>& traits = known[node.name.value];
      if (!traits) {
        traits = TraitsOf(rules.FindOp(trace.strings.view(node.name)));
      }
      launches[i] = traits->family != 0 && (inside[i] & traits->excluded) == 0;
      families |= launches[i] ? traits->family : 0;
    }
    if (node.parent < i) {
      inside[node.parent] |= families;
    }
  }
  return launches;
}

namespace {

// Entries that the table may have per call before a sorted list is smaller.
constexpr uint64_t kMostEntriesPerCall = 16;

}  // namespace

CorrelationMap::CorrelationMap(const std::vector<RuntimeEvent>& calls) {
  int64_t lowest = std::numeric_limits<int64_t>::max();
  int64_t highest = -1;
  for (const RuntimeEvent& call : calls) {
    if (call.correlation >= 0) {
      lowest = std::min(lowest, call.correlation);
      highest = std::max(highest, call.correlation);
    }
  }
  if (highest < 0) {
    return;
  }
  first_ = lowest;
  const uint64_t span = static_cast<uint64_t>(highest - lowest) + 1;
  if (span / kMostEntriesPerCall <= calls.size()) {
    FillTable(calls, span);
  } else {
    FillSorted(calls);
  }
}

void CorrelationMap::FillTable(const std::vector<RuntimeEvent>& calls,
                               uint64_t span) {
  table_.assign(span, kNoEvent);
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].correlation < 0) {
      continue;
    }
    uint32_t& entry =
        table_[static_cast<size_t>(calls[i].correlation - first_)];
    if (entry == kNoEvent) {
      entry = static_cast<uint32_t>(i);
    } else {
      ++duplicates_;
    }
  }
}

void CorrelationMap::FillSorted(const std::vector<RuntimeEvent>& calls) {
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].correlation >= 0) {
      sorted_.emplace_back(calls[i].correlation, static_cast<uint32_t>(i));
    }
  }
  std::ranges::sort(sorted_);
  const auto same_id = [](const auto& a, const auto& b) {
    return a.first == b.first;
  };
  const auto rest = std::unique(sorted_.begin(), sorted_.end(), same_id);
  duplicates_ = sorted_.end() - rest;
  sorted_.erase(rest, sorted_.end());
}

uint32_t CorrelationMap::Find(int64_t correlation) const {
  if (!table_.empty()) {
    const bool inside =
        correlation >= first_ &&
        static_cast<uint64_t>(correlation - first_) < table_.size();
    return inside ? table_[static_cast<size_t>(correlation - first_)]
                  : kNoEvent;
  }
  const auto found = std::ranges::lower_bound(
      sorted_, correlation, {}, &std::pair<int64_t, uint32_t>::first);
  return found != sorted_.end() && found->first == correlation ? found->second
                                                               : kNoEvent;
}

namespace {

using std::chrono::microseconds;

// Profilers before 2024 round starts and durations down to integer
// microseconds, so that a child may seem to end up to one microsecond after its
// parent.
constexpr Duration kNestingRounding = microseconds(1);

constexpr size_t kExampleWidth = 60;

template <typename Event, typename Key>
void SortBy(std::vector<Event>& events, Key key) {
  if (!std::ranges::is_sorted(events, {}, key)) {
    std::ranges::stable_sort(events, {}, key);
  }
}

void SortCalls(ProfilerTrace& trace) {
  SortBy(trace.runtime_events, [](const RuntimeEvent& event) {
    return std::tuple(event.thread, event.start);
  });
}

void SortEvents(ProfilerTrace& trace) {
  const bool has_order = std::ranges::all_of(
      trace.host_events,
      [](const HostEvent& event) { return event.event_index >= 0; });
  // Events that start in the same microsecond: in the recorder's order where it
  // is known, otherwise the longer one is taken as the parent.
  SortBy(trace.host_events, [has_order](const HostEvent& event) {
    return std::tuple(event.thread, event.start,
                      has_order ? event.event_index : -event.duration.count());
  });
  SortCalls(trace);
  SortBy(trace.device_events, [](const DeviceEvent& event) {
    return std::tuple(event.device, event.stream, event.start);
  });
}

// Finds the thread of calls that are on one without ops: writers that know
// threads by CUPTI's number alone put those of autograd's thread there.
class LostThreads {
 public:
  explicit LostThreads(ProfilerTrace& trace) : trace_(trace) {}

  /// Gives calls that launch device work to the thread that has ops but no
  /// calls, and most often an op where they have a call.
  void Run() {
    if (!FindThreads()) {
      return;
    }
    for (uint32_t i = 0; i < trace_.host_events.size(); ++i) {
      const HostEvent& event = trace_.host_events[i];
      if (event.kind == HostEventKind::kOp && !has_calls_[event.thread]) {
        ops_[event.thread].push_back(i);
      }
    }
    for (uint32_t i = 0; i < trace_.runtime_events.size(); ++i) {
      const uint32_t thread = trace_.runtime_events[i].thread;
      if (!has_ops_[thread]) {
        calls_[thread].push_back(i);
      }
    }
    FindLaunches();
    for (uint32_t thread = 0; thread < calls_.size(); ++thread) {
      if (launches_[thread]) {
        Move(thread);
      }
    }
  }

 private:
  // Processes have a few dozen threads; each is compared with each.
  static constexpr size_t kMostThreads = 1024;

  // Whether there are both kinds of threads, as in few traces.
  bool FindThreads() {
    // Both lists are sorted by thread.
    if (trace_.host_events.empty() || trace_.runtime_events.empty()) {
      return false;
    }
    const uint32_t count = std::max(trace_.host_events.back().thread,
                                    trace_.runtime_events.back().thread) +
                           1;
    if (count > kMostThreads) {
      return false;
    }
    has_ops_.resize(count);
    has_calls_.resize(count);
    ops_.resize(count);
    calls_.resize(count);
    launches_.resize(count);
    for (const HostEvent& event : trace_.host_events) {
      if (event.kind == HostEventKind::kOp) {
        has_ops_[event.thread] = true;
      }
    }
    for (const RuntimeEvent& call : trace_.runtime_events) {
      has_calls_[call.thread] = true;
    }
    bool calls_only = false;
    bool ops_only = false;
    for (uint32_t thread = 0; thread < count; ++thread) {
      calls_only = calls_only || (has_calls_[thread] && !has_ops_[thread]);
      ops_only = ops_only || (has_ops_[thread] && !has_calls_[thread]);
    }
    return calls_only && ops_only;
  }

  void FindLaunches() {
    const CorrelationMap calls(trace_.runtime_events);
    for (const DeviceEvent& event : trace_.device_events) {
      const uint32_t call = calls.Find(event.correlation);
      if (call != kNoEvent && !has_ops_[trace_.runtime_events[call].thread]) {
        launches_[trace_.runtime_events[call].thread] = true;
      }
    }
  }

  // How many of the calls start in an op of the other thread. Both are sorted.
  int64_t CountInside(const std::vector<uint32_t>& calls,
                      const std::vector<uint32_t>& ops) const {
    int64_t inside = 0;
    size_t next = 0;
    Duration latest_end = Duration::min();  // Of the ops before the call.
    for (const uint32_t call : calls) {
      const Duration start = trace_.runtime_events[call].start;
      while (next < ops.size() &&
             trace_.host_events[ops[next]].start <= start) {
        const HostEvent& op = trace_.host_events[ops[next++]];
        latest_end = std::max(latest_end, op.start + op.duration);
      }
      inside += latest_end >= start ? 1 : 0;
    }
    return inside;
  }

  void Move(uint32_t from) {
    const std::vector<uint32_t>& calls = calls_[from];
    uint32_t best = kNoEvent;
    auto most = static_cast<int64_t>(calls.size()) / 2;
    for (uint32_t thread = 0; thread < ops_.size(); ++thread) {
      const int64_t inside = CountInside(calls, ops_[thread]);
      if (inside > most) {
        most = inside;
        best = thread;
      }
    }
    if (best == kNoEvent) {
      return;
    }
    for (const uint32_t call : calls) {
      trace_.runtime_events[call].thread = best;
    }
    ops_[best].clear();  // It has calls now.
  }

  ProfilerTrace& trace_;
  // By thread:
  std::vector<bool> has_ops_;
  std::vector<bool> has_calls_;
  std::vector<std::vector<uint32_t>> ops_;    // Of those without calls.
  std::vector<std::vector<uint32_t>> calls_;  // Of those without ops.
  std::vector<bool> launches_;                // Of those: device work.
};

// Whether [start, end] is within the event, allowing for rounding.
bool Holds(const HostEvent& outer, Duration start, Duration end) {
  const Duration outer_end = outer.start + outer.duration;
  return start <= outer_end && end <= outer_end + kNestingRounding &&
         (start < outer_end || end <= outer_end);
}

// Walks host events and runtime calls of one thread in order of time with a
// stack of open events.
class NestingWalk {
 public:
  NestingWalk(LinkedTrace& linked, Diagnostics& diagnostics)
      : linked_(linked), diagnostics_(diagnostics) {}

  void Run() {
    const auto& ops = linked_.trace.host_events;
    const auto& calls = linked_.trace.runtime_events;
    linked_.parent.assign(ops.size(), kNoEvent);
    linked_.call_op.assign(calls.size(), kNoEvent);
    size_t call = 0;
    for (size_t op = 0; op < ops.size(); ++op) {
      // Calls before this op, on this thread or on threads without ops.
      while (call < calls.size() &&
             std::tuple(calls[call].thread, calls[call].start) <
                 std::tuple(ops[op].thread, ops[op].start)) {
        PlaceCall(call++);
      }
      PlaceOp(static_cast<uint32_t>(op));
    }
    while (call < calls.size()) {
      PlaceCall(call++);
    }
  }

 private:
  void EnterThread(uint32_t thread) {
    if (thread != thread_) {
      open_.clear();
      thread_ = thread;
    }
  }

  void PlaceOp(uint32_t index) {
    const HostEvent& event = linked_.trace.host_events[index];
    EnterThread(event.thread);
    const Duration end = event.start + event.duration;
    while (!open_.empty()) {
      const HostEvent& outer = linked_.trace.host_events[open_.back()];
      if (Holds(outer, event.start, end)) {
        break;
      }
      if (event.start < outer.start + outer.duration) {
        diagnostics_.Add(
            kOverlappingOps,
            ElideMiddle(Printable(linked_.trace.strings.view(event.name)),
                        kExampleWidth));
      }
      open_.pop_back();
    }
    linked_.parent[index] = open_.empty() ? kNoEvent : open_.back();
    open_.push_back(index);
  }

  void PlaceCall(size_t index) {
    const RuntimeEvent& call = linked_.trace.runtime_events[index];
    EnterThread(call.thread);
    while (!open_.empty() && !Holds(linked_.trace.host_events[open_.back()],
                                    call.start, call.start + call.duration)) {
      // An op that is still open may only be left when it is over.
      const HostEvent& outer = linked_.trace.host_events[open_.back()];
      if (call.start < outer.start + outer.duration) {
        break;
      }
      open_.pop_back();
    }
    linked_.call_op[index] = open_.empty() ? kNoEvent : open_.back();
  }

  LinkedTrace& linked_;
  Diagnostics& diagnostics_;
  std::vector<uint32_t> open_;
  uint32_t thread_ = kNoEvent;
};

void LinkDevice(LinkedTrace& linked, Diagnostics& diagnostics) {
  const ProfilerTrace& trace = linked.trace;
  const CorrelationMap calls(trace.runtime_events);
  diagnostics.Add(kDuplicateCorrelation, {}, calls.duplicates());
  linked.activity_call.resize(trace.device_events.size());
  for (size_t i = 0; i < trace.device_events.size(); ++i) {
    linked.activity_call[i] = calls.Find(trace.device_events[i].correlation);
    if (linked.activity_call[i] == kNoEvent) {
      const auto name = trace.strings.view(trace.device_events[i].name);
      diagnostics.Add(kOrphanActivity,
                      diagnostics.count(kOrphanActivity) < 3
                          ? ElideMiddle(Printable(name), kExampleWidth)
                          : std::string());
    }
  }
}

// As a processor's: whoever launches work records the calls.
bool IsHostOnly(const ProfilerTrace& trace) {
  return !trace.host_events.empty() && trace.runtime_events.empty() &&
         trace.device_events.empty();
}

// Graphs compiled for a processor.
void CountCompiled(const ProfilerTrace& trace, const Rules& rules,
                   Diagnostics& diagnostics) {
  for (const HostEvent& event : trace.host_events) {
    if (event.kind == HostEventKind::kAnnotation &&
        rules.IsCompiledRange(trace.strings.view(event.name))) {
      diagnostics.Add(kCompiledKernels);
    }
  }
}

void CountOddities(const LinkedTrace& linked, const Rules& rules,
                   Diagnostics& diagnostics) {
  const ProfilerTrace& trace = linked.trace;
  if (trace.device_events.empty()) {
    diagnostics.Add(IsHostOnly(trace) ? kHostOnly : kNoDeviceEvents);
  }
  if (IsHostOnly(trace)) {
    CountCompiled(trace, rules, diagnostics);
  }
  if (trace.host_events.empty()) {
    diagnostics.Add(kNoHostOps);
  } else if (std::ranges::all_of(trace.arguments,
                                 [](const RawArguments& arguments) {
                                   return arguments.dims == StringPool::kEmpty;
                                 })) {
    diagnostics.Add(kNoShapes);
  }
  if (!trace.host_events.empty()) {
    for (const uint32_t call : linked.activity_call) {
      if (call != kNoEvent && linked.call_op[call] == kNoEvent) {
        diagnostics.Add(kCallOutsideOp);
      }
    }
  }
  diagnostics.Add(
      kZeroLengthKernels, {},
      std::ranges::count_if(trace.device_events, [](const DeviceEvent& event) {
        return event.kind == DeviceEventKind::kKernel &&
               event.duration == Duration{};
      }));
}

}  // namespace

LinkedTrace Link(ProfilerTrace trace, const Rules& rules,
                 Diagnostics& diagnostics) {
  LinkedTrace linked{.trace = std::move(trace)};
  SortEvents(linked.trace);
  LostThreads(linked.trace).Run();
  SortCalls(linked.trace);
  NestingWalk(linked, diagnostics).Run();
  LinkDevice(linked, diagnostics);
  FindSteps(linked, rules, diagnostics);
  CountOddities(linked, rules, diagnostics);
  return linked;
}

}  // namespace stepcast::trace
