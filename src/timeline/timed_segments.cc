#include "timeline/timed_segments.h"

#include <algorithm>
#include <span>

#include "ir/graph.h"

namespace stepcast::timeline {
namespace {

using std::chrono::nanoseconds;

// What a sync costs before it begins to wait, where it was never seen to
// return at once. Unobservable in a trace; the shortest syncs on record take
// about two microseconds in all.
constexpr Duration kSyncEntry = nanoseconds(2'000);

Duration EndOf(const ir::Measured& measured) {
  return *measured.start + measured.duration;
}

class Cutter {
 public:
  Cutter(const ir::GraphData& data, const IdVector<ir::OpId, ir::OpId>& tops,
         ir::ThreadId thread, std::optional<Duration> step)
      : data_(data), tops_(tops), thread_(thread), step_(step) {}

  TimedThread Cut();

 private:
  struct Found {
    ir::OpId op{};
    Duration start{};
    Duration end{};
    std::vector<ir::CallId> calls;
  };

  std::vector<Found> FindItems();
  void Emit(cost::HostKind kind, ir::OpId op, Duration end);
  void EmitCall(ir::OpId op, ir::CallId call);
  void EmitItem(const Found& found);
  void CountEvents();

  const ir::GraphData& data_;
  const IdVector<ir::OpId, ir::OpId>& tops_;
  const ir::ThreadId thread_;
  const std::optional<Duration> step_;
  Duration now_{};
  TimedThread cut_;
};

// The top-level ops with their calls, and the calls outside of all ops.
std::vector<Cutter::Found> Cutter::FindItems() {
  std::vector<Found> found;
  std::vector<uint32_t> place(data_.ops.size(), ir::OpId::kNone);
  for (const ir::OpId id : OfThread(data_.ops, thread_)) {
    if (tops_[id] != id) {
      continue;
    }
    const ir::Op& op = data_.ops[id];
    if (!ir::StartOf(op.measured)) {
      ++cut_.unplaced;
      continue;
    }
    place[id.value] = static_cast<uint32_t>(found.size());
    found.push_back({.op = id,
                     .start = *op.measured->start,
                     .end = EndOf(*op.measured),
                     .calls = {}});
  }
  for (const ir::CallId id : OfThread(data_.calls, thread_)) {
    const ir::Call& call = data_.calls[id];
    if (!ir::StartOf(call.measured)) {
      ++cut_.unplaced;
      continue;
    }
    const ir::OpId top = call.op.valid() ? tops_[call.op] : ir::OpId{};
    const uint32_t at = top.valid() ? place[top.value] : ir::OpId::kNone;
    if (at != ir::OpId::kNone) {
      found[at].calls.push_back(id);
    } else {
      found.push_back({.op = {},
                       .start = *call.measured->start,
                       .end = EndOf(*call.measured),
                       .calls = {id}});
    }
  }
  std::ranges::stable_sort(found, {}, &Found::start);
  return found;
}

// A segment from now to `end`; of no length if that has passed.
void Cutter::Emit(cost::HostKind kind, ir::OpId op, Duration end) {
  end = std::max(end, now_);
  if (step_) {
    end = std::min(end, std::max(*step_, now_));
  }
  cut_.segments.push_back(
      {.segment = {.kind = kind, .op = op, .duration = end - now_},
       .begin = now_,
       .end = end});
  now_ = end;
}

void Cutter::EmitCall(ir::OpId op, ir::CallId call) {
  Emit(cost::HostKind::kCall, op, EndOf(*data_.calls[call].measured));
  TimedSegment& timed = cut_.segments.back();
  timed.segment.call = call;
  const std::span<const ir::HostWait> waits = ir::WaitsOf(data_, call);
  Duration done = timed.begin;
  for (const ir::HostWait& wait : waits) {
    const auto& measured = data_.activities[wait.before].measured;
    if (ir::StartOf(measured)) {
      done = std::max(done, EndOf(*measured));
    }
  }
  if (done > timed.begin) {
    done = std::min(done, timed.end);
    timed.segment.duration = std::min(kSyncEntry, done - timed.begin);
    timed.segment.tail = timed.end - done;
  }
}

void Cutter::EmitItem(const Found& found) {
  TimedItem item{.op = found.op};
  item.first_segment = static_cast<uint32_t>(cut_.segments.size());
  Emit(cost::HostKind::kBetweenOps, found.op, found.start);
  item.start = now_;
  if (found.calls.empty()) {
    Emit(cost::HostKind::kNoLaunch, found.op, found.end);
  } else if (!found.op.valid()) {
    EmitCall(found.op, found.calls.front());
  } else {
    for (const ir::CallId call : found.calls) {
      Emit(call == found.calls.front() ? cost::HostKind::kBeforeLaunch
                                       : cost::HostKind::kBetweenLaunches,
           found.op, *data_.calls[call].measured->start);
      EmitCall(found.op, call);
    }
    Emit(cost::HostKind::kAfterLaunch, found.op, found.end);
  }
  item.end = now_;
  item.last_segment = static_cast<uint32_t>(cut_.segments.size()) - 1;
  cut_.items.push_back(item);
}

// Ops count in the segment they start in; of two segments that meet there, in
// the later one, so that an op's own start counts in the op.
void Cutter::CountEvents() {
  std::vector<Duration> starts;
  for (const ir::OpId id : OfThread(data_.ops, thread_)) {
    if (const auto start = ir::StartOf(data_.ops[id].measured)) {
      starts.push_back(*start);
    }
  }
  std::ranges::sort(starts);
  auto next = starts.begin();
  for (TimedSegment& timed : cut_.segments) {
    for (; next != starts.end() && *next < timed.end; ++next) {
      ++timed.segment.events;
    }
    timed.segment.events += timed.segment.call.valid() ? 1 : 0;
  }
}

TimedThread Cutter::Cut() {
  const std::vector<Found> found = FindItems();
  if (!step_ && !found.empty()) {
    now_ = found.front().start;
  }
  for (const Found& item : found) {
    EmitItem(item);
  }
  if (step_) {
    Emit(cost::HostKind::kBetweenOps, {}, *step_);
  }
  CountEvents();
  return std::move(cut_);
}

}  // namespace

TimedThread CutThread(const ir::GraphData& data,
                      const IdVector<ir::OpId, ir::OpId>& tops,
                      ir::ThreadId thread, std::optional<Duration> step) {
  return Cutter(data, tops, thread, step).Cut();
}

}  // namespace stepcast::timeline
