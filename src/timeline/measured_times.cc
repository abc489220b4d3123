#include "timeline/measured_times.h"

#include <algorithm>
#include <array>

#include "base/stats.h"
#include "ir/graph.h"

namespace stepcast::timeline {
namespace {

using std::chrono::microseconds;

// After its last known cause an activity starts within this time, or it is
// late. In the traces at hand nine of ten launches on an idle stream take less
// than half of the first, and gaps on a busy stream less than a third of the
// second.
constexpr Duration kLateLaunch = microseconds(50);
constexpr Duration kLateOnStream = microseconds(20);
// Activities that end so shortly before a late start are what it waited for.
constexpr Duration kCoincidence = microseconds(20);
// ... and so are those in the last part of their run, when their blocks begin
// to leave the device.
constexpr double kLastPart = 0.25;

class Taker {
 public:
  Taker(const ir::GraphData& data, bool keep_late)
      : data_(data), keep_late_(keep_late) {}

  MeasuredTimes Take();

 private:
  // When an activity could have started at the earliest, by each cause.
  struct Bounds {
    std::optional<Duration> launch;
    std::optional<Duration> stream;
    std::optional<Duration> stream_wait;
    size_t wait = 0;  // The stream wait that ended last.
  };

  struct Started {
    ir::ActivityId activity{};
    Duration start{};
    Duration last_end{};  // Of this work and all that started before.
  };

  std::optional<Duration> Start(ir::ActivityId id) const {
    return ir::StartOf(data_.activities[id].measured);
  }
  std::optional<Duration> End(ir::ActivityId id) const;
  ir::RankId RankOf(ir::ActivityId id) const {
    return data_.streams[data_.activities[id].stream].rank;
  }
  Bounds FindBounds(ir::ActivityId id) const;
  void FindLeastLaunch();
  void TakeActivity(ir::ActivityId id);
  void CutOverlaps();
  void SortByRank();
  void TakeCollectives();
  void TakeDelays();
  bool StartsByReturn(ir::ActivityId id) const;
  bool TakeLateStart(ir::ActivityId id, Duration usual);
  std::optional<Contention> FindContention(ir::ActivityId id) const;
  Duration Usual(StartCause cause) const;

  const ir::GraphData& data_;
  const bool keep_late_;
  Duration least_launch_{};
  IdVector<ir::ActivityId, Duration> delays_;  // After the cause.
  IdVector<ir::ActivityId, size_t> waits_;     // For kStreamWait: which.
  IdVector<ir::RankId, std::vector<Started>> by_rank_;  // By start.
  MeasuredTimes taken_;
};

std::optional<Duration> Taker::End(ir::ActivityId id) const {
  const auto start = Start(id);
  return start ? std::optional(*start + data_.activities[id].measured->duration)
               : std::nullopt;
}

Taker::Bounds Taker::FindBounds(ir::ActivityId id) const {
  const ir::Activity& activity = data_.activities[id];
  Bounds bounds;
  if (activity.call.valid()) {
    bounds.launch = ir::StartOf(data_.calls[activity.call].measured);
  }
  if (id.value > 0) {
    const ir::ActivityId previous{id.value - 1};
    if (data_.activities[previous].stream == activity.stream) {
      bounds.stream = End(previous);
    }
  }
  const std::span<const ir::StreamWait> waits = ir::WaitsOf(data_, id);
  for (const ir::StreamWait& wait : waits) {
    const auto end = End(wait.before);
    if (end && (!bounds.stream_wait || *end > *bounds.stream_wait)) {
      bounds.stream_wait = end;
      bounds.wait = static_cast<size_t>(&wait - data_.stream_waits.data());
    }
  }
  return bounds;
}

// What a launch takes at least: the first decile over the activities that found
// their stream idle when they were launched.
void Taker::FindLeastLaunch() {
  std::vector<double> launches;
  for (const ir::ActivityId id : data_.activities.ids()) {
    const auto start = Start(id);
    const Bounds bounds = FindBounds(id);
    if (!start || !bounds.launch || *start < *bounds.launch) {
      continue;
    }
    const bool idle =
        (!bounds.stream || *bounds.stream <= *bounds.launch) &&
        (!bounds.stream_wait || *bounds.stream_wait <= *bounds.launch);
    if (idle) {
      launches.push_back(
          static_cast<double>((*start - *bounds.launch).count()));
    }
  }
  if (!launches.empty()) {
    constexpr double kDecile = 0.1;
    least_launch_ =
        Duration(static_cast<int64_t>(Quantile(std::move(launches), kDecile)));
  }
}

void Taker::TakeActivity(ir::ActivityId id) {
  const ir::Activity& activity = data_.activities[id];
  ActivityTime& time = taken_.times.activities[id];
  time.duration = activity.measured ? activity.measured->duration : Duration{};
  const auto start = Start(id);
  if (!start) {
    return;
  }
  const Bounds bounds = FindBounds(id);
  // Activity of before the step that reaches into it.
  time.release = std::max(*start, Duration{});
  if (!activity.call.valid() && *start < Duration{}) {
    time.duration = std::max(time.duration + *start, Duration{});
  }
  StartCause cause = StartCause::kNone;
  Duration bound{};
  if (bounds.launch) {
    time.launch =
        std::clamp(*start - *bounds.launch, Duration{}, least_launch_);
    cause = StartCause::kLaunch;
    bound = *bounds.launch + time.launch;
  }
  if (bounds.stream && (cause == StartCause::kNone || *bounds.stream > bound)) {
    cause = StartCause::kStream;
    bound = *bounds.stream;
  }
  if (bounds.stream_wait &&
      (cause == StartCause::kNone || *bounds.stream_wait > bound)) {
    cause = StartCause::kStreamWait;
    bound = *bounds.stream_wait;
  }
  if (!activity.call.valid()) {
    cause = StartCause::kNone;
  }
  taken_.causes[id] = cause;
  waits_[id] = bounds.wait;
  delays_[id] = std::max(*start - bound, Duration{});
}

// A stream runs one activity after the other.
void Taker::CutOverlaps() {
  for (uint32_t i = 1; i < data_.activities.size(); ++i) {
    const ir::ActivityId id{i};
    const ir::ActivityId previous{i - 1};
    const auto start = Start(id);
    const auto end = End(previous);
    if (data_.activities[id].stream != data_.activities[previous].stream ||
        !start || !end || *start >= *end) {
      continue;
    }
    Duration& duration = taken_.times.activities[previous].duration;
    duration = std::max(duration - (*end - *start), Duration{});
    ++taken_.overlaps;
  }
}

void Taker::TakeCollectives() {
  for (const ir::MatchedCollective& collective : data_.collectives) {
    std::optional<Duration> last;
    for (const ir::ActivityId id : collective.activities) {
      const auto& step = data_.ranks[RankOf(id)].step;
      const auto start = Start(id);
      if (start) {
        const Duration offset = ir::StartOf(step).value_or(Duration{});
        last = std::max(last.value_or(offset + *start), offset + *start);
      }
    }
    for (const ir::ActivityId id : collective.activities) {
      const auto& step = data_.ranks[RankOf(id)].step;
      const auto end = End(id);
      if (last && end) {
        const Duration offset = ir::StartOf(step).value_or(Duration{});
        taken_.times.activities[id].duration =
            std::max(*end + offset - *last, Duration{});
      }
    }
  }
}

Duration Limit(StartCause cause) {
  return cause == StartCause::kStream ? kLateOnStream : kLateLaunch;
}

// The median delay after a cause.
Duration Taker::Usual(StartCause cause) const {
  std::vector<double> delays;
  for (const ir::ActivityId id : data_.activities.ids()) {
    if (taken_.causes[id] == cause && delays_[id] <= Limit(cause)) {
      delays.push_back(static_cast<double>(delays_[id].count()));
    }
  }
  constexpr double kMiddle = 0.5;
  return Duration(static_cast<int64_t>(Quantile(std::move(delays), kMiddle)));
}

// Of the activities on other streams of the rank the one that ended nearest to
// the start of `id`; of several the first to start.
std::optional<Contention> Taker::FindContention(ir::ActivityId id) const {
  const Duration start = *Start(id);
  const Duration bound = start - delays_[id];
  const std::vector<Started>& activities = by_rank_[RankOf(id)];
  auto next = std::ranges::lower_bound(activities, start, {}, &Started::start);
  std::optional<Contention> best;
  // Backwards, while any of those before may reach after the bound.
  while (next != activities.begin() && (--next)->last_end > bound) {
    const ir::Activity& activity = data_.activities[next->activity];
    const Duration end = *End(next->activity);
    const Duration delay = start - end;
    const bool tail =
        delay < Duration{} && activity.kind != ir::ActivityKind::kCollective &&
        static_cast<double>(-delay.count()) <=
            kLastPart *
                static_cast<double>(activity.measured->duration.count());
    const bool ended = delay >= Duration{} && delay <= kCoincidence;
    if (activity.stream == data_.activities[id].stream || end <= bound ||
        (!tail && !ended)) {
      continue;
    }
    if (!best || std::chrono::abs(delay) <= std::chrono::abs(best->delay)) {
      best = {.before = next->activity, .after = id, .delay = delay};
    }
  }
  return best;
}

// Whether an activity on another stream explains it.
bool Taker::TakeLateStart(ir::ActivityId id, Duration usual) {
  if (const auto contention = FindContention(id)) {
    taken_.times.contentions.push_back(*contention);
    taken_.causes[id] = StartCause::kContention;
    return true;
  }
  taken_.late_starts.push_back({.activity = id,
                                .cause = taken_.causes[id],
                                .late = delays_[id] - usual});
  return false;
}

// Whether its call had not returned long before: a first launch loads code, and
// a copy from pageable memory is staged by the host, both inside the call.
bool Taker::StartsByReturn(ir::ActivityId id) const {
  if (taken_.causes[id] != StartCause::kLaunch) {
    return false;
  }
  const ir::Measured& call = *data_.calls[data_.activities[id].call].measured;
  return *Start(id) <= *call.start + call.duration + kLateLaunch;
}

void Taker::TakeDelays() {
  std::array<Duration, 3> usual{};
  for (size_t i = 0; i < usual.size(); ++i) {
    usual[i] = Usual(static_cast<StartCause>(i));
  }
  taken_.usual = {.launch = least_launch_ + usual[0],
                  .gap = usual[1],
                  .stream_wait = usual[2]};
  for (const ir::ActivityId id : data_.activities.ids()) {
    const StartCause cause = taken_.causes[id];
    if (cause == StartCause::kNone) {
      continue;
    }
    Duration delay = delays_[id];
    if (delay > Limit(cause) && !StartsByReturn(id)) {
      const Duration usual_delay = usual[static_cast<size_t>(cause)];
      if (TakeLateStart(id, usual_delay) || !keep_late_) {
        delay = usual_delay;
      }
    }
    ActivityTime& time = taken_.times.activities[id];
    if (cause == StartCause::kLaunch) {
      time.launch += delay;
    } else if (cause == StartCause::kStream) {
      time.gap = delay;
    } else {
      taken_.times.wait_delays[waits_[id]] = delay;
    }
  }
}

void Taker::SortByRank() {
  by_rank_ = IdVector<ir::RankId, std::vector<Started>>(data_.ranks.size());
  for (const ir::ActivityId id : data_.activities.ids()) {
    if (const auto start = Start(id)) {
      by_rank_[RankOf(id)].push_back({.activity = id, .start = *start});
    }
  }
  for (std::vector<Started>& activities : by_rank_) {
    std::ranges::stable_sort(activities, {}, &Started::start);
    Duration last_end = Duration::min();
    for (Started& activity : activities) {
      last_end = std::max(last_end, *End(activity.activity));
      activity.last_end = last_end;
    }
  }
}

MeasuredTimes Taker::Take() {
  const uint32_t count = data_.activities.size();
  taken_.times.activities = IdVector<ir::ActivityId, ActivityTime>(count);
  taken_.times.wait_delays.assign(data_.stream_waits.size(), {});
  taken_.causes =
      IdVector<ir::ActivityId, StartCause>(count, StartCause::kNone);
  delays_ = IdVector<ir::ActivityId, Duration>(count);
  waits_ = IdVector<ir::ActivityId, size_t>(count);
  FindLeastLaunch();
  for (const ir::ActivityId id : data_.activities.ids()) {
    TakeActivity(id);
  }
  CutOverlaps();
  TakeCollectives();
  SortByRank();
  TakeDelays();
  return std::move(taken_);
}

}  // namespace

std::string_view Name(StartCause cause) {
  constexpr std::array<std::string_view, 5> kNames = {
      "launch", "stream", "stream_wait", "contention", "none"};
  return kNames[static_cast<size_t>(cause)];
}

MeasuredTimes TakeMeasuredTimes(const ir::GraphData& data, bool keep_late) {
  return Taker(data, keep_late).Take();
}

}  // namespace stepcast::timeline
