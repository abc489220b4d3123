#include "trace/build/find_waits.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>

#include "trace/classify/request.h"
#include "trace/link/link.h"

namespace stepcast::trace {
namespace {

constexpr int64_t kNoNumber = -1;

// Whether an op looks up embeddings, asked once for each distinct name.
class LookupNames {
 public:
  LookupNames(const StringPool& strings, const Rules& rules)
      : strings_(strings), rules_(rules), known_(strings.size()) {}

  bool Contains(StringId name) {
    std::optional<bool>& entry = known_[name.value];
    if (!entry) {
      const KernelRule* rule = rules_.FindOp(strings_.view(name));
      entry = rule != nullptr && rule->family == "embedding_bag" &&
              PassOf(rule->detail) == ir::Pass::kForward;
    }
    return *entry;
  }

 private:
  const StringPool& strings_;
  const Rules& rules_;
  std::vector<std::optional<bool>> known_;
};

// The two sides of one of autograd's nodes.
struct Sides {
  uint32_t forward = kNoEvent;
  uint32_t backward = kNoEvent;
  bool is_lookup = false;
};

// The engine's own range around a node; it has no arguments.
bool IsEngine(std::string_view name) {
  return name.starts_with("autograd::engine::");
}

class PartnerFinder {
 public:
  PartnerFinder(const std::vector<PhaseInput>& events,
                const StringPool& strings, const std::vector<ir::Phase>& phases,
                const Rules& rules)
      : events_(events),
        strings_(strings),
        phases_(phases),
        lookups_(strings, rules),
        numbers_(events.size(), kNoNumber) {}

  std::vector<uint32_t> Run() {
    FindNumbers();
    for (uint32_t i = 0; i < events_.size(); ++i) {
      if (numbers_[i] != kNoNumber) {
        Add(i, sides_[numbers_[i]]);
      }
    }
    std::vector<uint32_t> partners(events_.size(), kNoEvent);
    for (uint32_t i = 0; i < events_.size(); ++i) {
      if (numbers_[i] != kNoNumber) {
        const Sides& sides = sides_[numbers_[i]];
        partners[i] = IsBackward(i) ? sides.forward : sides.backward;
      }
    }
    return partners;
  }

 private:
  bool IsBackward(uint32_t event) const {
    return phases_[event] == ir::Phase::kBackward;
  }

  // From the back, so that the number of the next op is known.
  void FindNumbers() {
    int64_t next = kNoNumber;
    for (size_t i = events_.size(); i-- > 0;) {
      const PhaseInput& event = events_[i];
      if (i + 1 < events_.size() && events_[i + 1].thread != event.thread) {
        next = kNoNumber;
      }
      if (!event.is_op) {
        continue;
      }
      if (event.sequence >= 0) {
        numbers_[i] = event.sequence;
        next = event.sequence;
      } else if (next > 0 && lookups_.Contains(event.name)) {
        numbers_[i] = next - 1;
      }
    }
  }

  void Add(uint32_t event, Sides& sides) {
    if (!IsBackward(event)) {
      // Ops around the one that autograd recorded show its number too; the
      // innermost is the last in pre-order. So do ops before a lookup.
      const bool is_lookup = lookups_.Contains(events_[event].name);
      if (is_lookup || !sides.is_lookup) {
        sides.forward = event;
        sides.is_lookup = is_lookup;
      }
    } else if (sides.backward == kNoEvent ||
               IsEngine(strings_.view(events_[sides.backward].name))) {
      sides.backward = event;
    }
  }

  const std::vector<PhaseInput>& events_;
  const StringPool& strings_;
  const std::vector<ir::Phase>& phases_;
  LookupNames lookups_;
  std::vector<int64_t> numbers_;
  std::unordered_map<int64_t, Sides> sides_;
};

}  // namespace

std::vector<uint32_t> FindPartners(const std::vector<PhaseInput>& events,
                                   const StringPool& strings,
                                   const std::vector<ir::Phase>& phases,
                                   const Rules& rules) {
  return PartnerFinder(events, strings, phases, rules).Run();
}

namespace {

using std::chrono::microseconds;

// Clock rounding of host and device events against each other.
constexpr Duration kClockRounding = microseconds(2);

using StreamKey = std::pair<int64_t, int64_t>;  // Device, stream.

struct Launch {
  Duration call_start{};
  uint32_t activity = 0;  // Device event.
};

class WaitFinder {
 public:
  WaitFinder(const LinkedTrace& linked, const StepWindow& window,
             const std::vector<ir::CallKind>& kinds, const SyncFacts& syncs,
             const GraphIds& ids, ir::GraphBuilder& builder)
      : linked_(linked),
        trace_(linked.trace),
        window_(window),
        kinds_(kinds),
        syncs_(syncs),
        ids_(ids),
        builder_(builder) {}

  void Run() {
    CollectLaunches();
    AddBlockingCopies();
    for (const uint32_t call : window_.calls) {
      if (ids_.calls[call].valid()) {
        Visit(call);
      }
    }
  }

 private:
  // What a thread did last, for inference.
  struct ThreadState {
    std::optional<StreamKey> last_stream;
    uint32_t last_launch_op = kNoEvent;
  };
  // A cudaEventRecord, and the work in front of it.
  struct Record {
    StreamKey stream;
    uint32_t activity = kNoEvent;
  };

  void CollectLaunches() {
    for (const uint32_t i : window_.activities) {
      const DeviceEvent& event = trace_.device_events[i];
      const uint32_t call = linked_.activity_call[i];
      // Activity of before the window comes first, in the order it ran.
      const Duration launched = call == kNoEvent
                                    ? window_.step.start - microseconds(1)
                                    : trace_.runtime_events[call].start;
      by_stream_[{event.device, event.stream}].push_back({launched, i});
      if (call != kNoEvent) {
        by_call_[call] = i;  // The last one, of a graph launch.
      }
    }
    for (auto& [stream, launches] : by_stream_) {
      std::ranges::stable_sort(launches, {}, &Launch::call_start);
    }
  }

  Duration End(uint32_t activity) const {
    return trace_.device_events[activity].start +
           trace_.device_events[activity].duration;
  }

  // The last activity put into the stream before `time`.
  uint32_t LastBefore(const StreamKey& stream, Duration time) const {
    const auto found = by_stream_.find(stream);
    if (found == by_stream_.end()) {
      return kNoEvent;
    }
    const auto next =
        std::ranges::lower_bound(found->second, time, {}, &Launch::call_start);
    return next == found->second.begin() ? kNoEvent : std::prev(next)->activity;
  }

  uint32_t FirstAfter(const StreamKey& stream, Duration time) const {
    const auto found = by_stream_.find(stream);
    if (found == by_stream_.end()) {
      return kNoEvent;
    }
    const auto next =
        std::ranges::upper_bound(found->second, time, {}, &Launch::call_start);
    return next == found->second.end() ? kNoEvent : next->activity;
  }

  std::optional<StreamKey> FindStream(int64_t number) const {
    for (const auto& [key, launches] : by_stream_) {
      if (key.second == number) {
        return key;
      }
    }
    return std::nullopt;
  }

  // A copy to or from pageable memory blocks inside its own call: the call is
  // not over before the copy is.
  void AddBlockingCopies() {
    for (const auto& [call, activity] : by_call_) {
      const RuntimeEvent& event = trace_.runtime_events[call];
      if (trace_.device_events[activity].kind == DeviceEventKind::kMemcpy &&
          ids_.calls[call].valid() &&
          event.start + event.duration + kClockRounding >= End(activity) &&
          event.start + event.duration > trace_.device_events[activity].start) {
        AddHostWait(activity, call, true);
      }
    }
  }

  void AddHostWait(uint32_t activity, uint32_t call, bool inferred) {
    if (activity != kNoEvent && ids_.activities[activity].valid()) {
      builder_.AddHostWait({.before = ids_.activities[activity],
                            .call = ids_.calls[call],
                            .inferred = inferred});
    }
  }

  void AddStreamWait(uint32_t before, uint32_t after, bool inferred) {
    if (before == kNoEvent || after == kNoEvent || before == after) {
      return;
    }
    // An inferred wait that the trace contradicts is dropped.
    if (inferred &&
        End(before) > trace_.device_events[after].start + kClockRounding) {
      return;
    }
    builder_.AddStreamWait({.before = ids_.activities[before],
                            .after = ids_.activities[after],
                            .inferred = inferred});
  }

  void Visit(uint32_t call) {
    const RuntimeEvent& event = trace_.runtime_events[call];
    ThreadState& thread = threads_[event.thread];
    const auto fact = syncs_.of_call.find(call);
    const bool recorded = fact != syncs_.of_call.end();
    switch (kinds_[call]) {
      case ir::CallKind::kLaunch:
      case ir::CallKind::kGraphLaunch:
        NoteLaunch(call, thread);
        return;
      case ir::CallKind::kEventRecord:
        NoteRecord(call, thread);
        return;
      case ir::CallKind::kStreamWait:
        if (recorded) {
          AddRecordedStreamWait(call, fact->second);
        } else {
          InferStreamWait(call);
        }
        return;
      case ir::CallKind::kDeviceSync:
        for (const auto& [stream, launches] : by_stream_) {
          AddHostWait(LastBefore(stream, event.start), call, !recorded);
        }
        return;
      case ir::CallKind::kStreamSync:
      case ir::CallKind::kEventSync:
        if (recorded) {
          AddRecordedHostWait(call, fact->second);
        } else {
          InferHostWait(call, thread);
        }
        return;
      case ir::CallKind::kOther:
        return;
    }
  }

  void NoteLaunch(uint32_t call, ThreadState& thread) {
    const auto activity = by_call_.find(call);
    if (activity != by_call_.end()) {
      const DeviceEvent& event = trace_.device_events[activity->second];
      thread.last_stream = StreamKey(event.device, event.stream);
      thread.last_launch_op = linked_.call_op[call];
    }
  }

  // The event goes into the stream the thread used last: frameworks record
  // right after the work they want to wait for.
  void NoteRecord(uint32_t call, const ThreadState& thread) {
    if (thread.last_stream) {
      stream_of_record_.emplace(call, *thread.last_stream);
      const Duration start = trace_.runtime_events[call].start;
      records_.push_back({.stream = *thread.last_stream,
                          .activity = LastBefore(*thread.last_stream, start)});
    }
  }

  // Some profilers know the call that recorded an event, but not its stream.
  std::optional<StreamKey> WaitedStream(const SyncFact& fact) const {
    const auto recorded = stream_of_record_.find(fact.record_call);
    return fact.wait_on_stream < 0 && recorded != stream_of_record_.end()
               ? std::optional(recorded->second)
               : FindStream(fact.wait_on_stream);
  }

  void AddRecordedStreamWait(uint32_t call, const SyncFact& fact) {
    const auto waiting = FindStream(fact.stream);
    const auto waited = WaitedStream(fact);
    if (!waiting || !waited || *waiting == *waited) {
      return;
    }
    const Duration now = trace_.runtime_events[call].start;
    const Duration mark = fact.record_call == kNoEvent
                              ? now
                              : trace_.runtime_events[fact.record_call].start;
    AddStreamWait(LastBefore(*waited, mark), FirstAfter(*waiting, now),
                  fact.wait_on_stream < 0);
  }

  void AddRecordedHostWait(uint32_t call, const SyncFact& fact) {
    const auto stream = fact.stream >= 0 && fact.wait_on_stream < 0
                            ? FindStream(fact.stream)
                            : WaitedStream(fact);
    if (!stream) {
      return;
    }
    const Duration mark = fact.record_call == kNoEvent
                              ? trace_.runtime_events[call].start
                              : trace_.runtime_events[fact.record_call].start;
    AddHostWait(LastBefore(*stream, mark), call,
                fact.wait_on_stream < 0 && fact.stream < 0);
  }

  // The stream made to wait is the one the thread launches into next. The
  // event is the last one recorded in another stream; most profilers leave
  // records out, and then the order of launches has to tell.
  void InferStreamWait(uint32_t call) {
    const RuntimeEvent& event = trace_.runtime_events[call];
    const uint32_t after = NextLaunchOfThread(event.thread, event.start);
    if (after == kNoEvent) {
      return;
    }
    const StreamKey waiting(trace_.device_events[after].device,
                            trace_.device_events[after].stream);
    if (records_.empty()) {
      AddStreamWait(LikelyWaited(call, waiting), after, true);
      return;
    }
    const auto record = std::find_if(
        records_.rbegin(), records_.rend(),
        [&](const Record& candidate) { return candidate.stream != waiting; });
    if (record != records_.rend()) {
      AddStreamWait(record->activity, after, true);
    }
  }

  // Going from one stream to another, a thread makes the new one wait for what
  // it has just put into the old one (a collective for its input). Staying in
  // its stream, it makes it wait for what was last put into any other (the
  // consumer for a collective), once.
  uint32_t LikelyWaited(uint32_t call, const StreamKey& waiting) {
    const RuntimeEvent& event = trace_.runtime_events[call];
    const ThreadState& thread = threads_[event.thread];
    if (thread.last_stream && *thread.last_stream != waiting) {
      return LastBefore(*thread.last_stream, event.start);
    }
    uint32_t latest = kNoEvent;
    Duration latest_launch = window_.step.start;
    for (const auto& [stream, launches] : by_stream_) {
      const uint32_t activity =
          stream == waiting ? kNoEvent : LastBefore(stream, event.start);
      const uint32_t launch =
          activity == kNoEvent ? kNoEvent : linked_.activity_call[activity];
      if (launch != kNoEvent &&
          trace_.runtime_events[launch].start >= latest_launch) {
        latest = activity;
        latest_launch = trace_.runtime_events[launch].start;
      }
    }
    return latest != kNoEvent && waited_for_.insert({waiting, latest}).second
               ? latest
               : kNoEvent;
  }

  uint32_t NextLaunchOfThread(uint32_t thread, Duration time) {
    if (launches_of_thread_.empty()) {
      for (const auto& [call, activity] : by_call_) {
        const RuntimeEvent& event = trace_.runtime_events[call];
        launches_of_thread_[event.thread].push_back({event.start, activity});
      }
      for (auto& [key, launches] : launches_of_thread_) {
        std::ranges::sort(launches, {}, &Launch::call_start);
      }
    }
    const auto& launches = launches_of_thread_[thread];
    const auto next =
        std::ranges::upper_bound(launches, time, {}, &Launch::call_start);
    return next == launches.end() ? kNoEvent : next->activity;
  }

  // A sync right after a launch in the same op waits for that launch's
  // stream; otherwise for the work whose end is nearest to the call's end.
  void InferHostWait(uint32_t call, const ThreadState& thread) {
    const RuntimeEvent& event = trace_.runtime_events[call];
    if (thread.last_stream && thread.last_launch_op == linked_.call_op[call] &&
        thread.last_launch_op != kNoEvent) {
      AddHostWait(LastBefore(*thread.last_stream, event.start), call, true);
      return;
    }
    const Duration end = event.start + event.duration;
    uint32_t best = kNoEvent;
    for (const auto& [stream, launches] : by_stream_) {
      const uint32_t activity = LastBefore(stream, event.start);
      if (activity != kNoEvent && End(activity) <= end + kClockRounding &&
          (best == kNoEvent || End(activity) > End(best))) {
        best = activity;
      }
    }
    AddHostWait(best, call, true);
  }

  const LinkedTrace& linked_;
  const ProfilerTrace& trace_;
  const StepWindow& window_;
  const std::vector<ir::CallKind>& kinds_;
  const SyncFacts& syncs_;
  const GraphIds& ids_;
  ir::GraphBuilder& builder_;
  std::map<StreamKey, std::vector<Launch>> by_stream_;
  std::map<uint32_t, uint32_t> by_call_;
  std::map<uint32_t, std::vector<Launch>> launches_of_thread_;
  std::map<uint32_t, ThreadState> threads_;
  std::vector<Record> records_;
  std::map<uint32_t, StreamKey> stream_of_record_;  // By runtime event.
  std::set<std::pair<StreamKey, uint32_t>> waited_for_;
};

}  // namespace

SyncFacts ReadSyncs(const LinkedTrace& linked) {
  SyncFacts facts;
  if (linked.trace.sync_events.empty()) {
    return facts;
  }
  const CorrelationMap calls(linked.trace.runtime_events);
  for (const SyncEvent& event : linked.trace.sync_events) {
    const uint32_t call = calls.Find(event.correlation);
    if (call != kNoEvent) {
      facts.of_call.insert_or_assign(
          call, SyncFact{.stream = event.stream,
                         .wait_on_stream = event.wait_on_stream,
                         .record_call = calls.Find(event.record_correlation)});
    }
  }
  return facts;
}

void AddWaits(const LinkedTrace& linked, const StepWindow& window,
              const std::vector<ir::CallKind>& kinds, const SyncFacts& syncs,
              const GraphIds& ids, ir::GraphBuilder& builder) {
  WaitFinder(linked, window, kinds, syncs, ids, builder).Run();
}

}  // namespace stepcast::trace
