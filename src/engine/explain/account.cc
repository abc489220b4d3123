#include "engine/explain/account.h"

#include <algorithm>

#include "base/stats.h"
#include "base/units.h"
#include "sim/simulate.h"
#include "timeline/lower.h"

namespace stepcast::engine {
namespace {

// Why a device stood idle before an activity started.

using timeline::TaskOrigin;

// How much of [begin, end) the host came back from waits, walking back over
// the lane from `task`.
Duration ReturnTime(const timeline::Lowered& lowered,
                    const sim::Schedule& schedule, sim::TaskId task,
                    Duration begin, Duration end) {
  Duration total{};
  while (task.valid()) {
    const sim::Placement& placement = schedule.placements[task];
    if (placement.end <= begin) {
      break;
    }
    if (lowered.origins[task].kind == TaskOrigin::Kind::kReturn) {
      const Duration from = std::max(placement.start, begin);
      const Duration to = std::min(placement.end, end);
      total += std::max(to - from, Duration{});
    }
    task = lowered.tasks.previous(task);
  }
  return total;
}

// The task after which the launch of `activity` came; invalid for what no call
// launched.
sim::TaskId LauncherOf(const timeline::Lowered& lowered, sim::TaskId activity) {
  for (const sim::Dependency& wait : lowered.tasks.waits(activity)) {
    if (wait.kind == static_cast<uint8_t>(timeline::Wait::kLaunch)) {
      return wait.before;
    }
  }
  return {};
}

void AddIdle(const timeline::Lowered& lowered, const sim::Schedule& schedule,
             sim::TaskId next, Duration begin, Duration end, IdleTime& idle) {
  const sim::TaskId launcher =
      next.valid() ? LauncherOf(lowered, next) : sim::TaskId{};
  if (!launcher.valid()) {
    idle.host += end - begin;  // The host ran out of activities.
    return;
  }
  // Until the call the host was not there, from then on it is the device.
  const Duration called =
      std::clamp(schedule.placements[launcher].end, begin, end);
  const Duration returning =
      ReturnTime(lowered, schedule, launcher, begin, called);
  idle.launch += end - called;
  idle.sync += returning;
  idle.host += called - begin - returning;
}

using timeline::TaskOrigin;

// What may stand for an instant, the first in this order that runs.
enum class Layer : uint8_t { kKernel, kCopy, kHost, kCollective, kWaiting };

struct Stretch {
  Duration begin{};
  Duration end{};
  Layer layer = Layer::kKernel;
  sim::TaskId task{};
  size_t family = 0;
};

class RankAccountant {
 public:
  RankAccountant(const ir::GraphData& data, const timeline::Lowered& lowered,
                 const sim::Schedule& schedule, StepSpan span,
                 RankAccount& account)
      : data_(data),
        lowered_(lowered),
        schedule_(schedule),
        span_(span),
        account_(account) {
    account_.step = span_.end - span_.begin;
  }

  /// What the step before left to run is not one of its own.
  void AddActivity(sim::TaskId task, const ir::Activity& activity, bool own);
  void Finish();

 private:
  void Push(Duration begin, Duration end, Layer layer, sim::TaskId task,
            size_t family);
  void Give(const Stretch& top, Duration length);
  void GiveIdle(Duration begin, Duration end, size_t next);

  const ir::GraphData& data_;
  const timeline::Lowered& lowered_;
  const sim::Schedule& schedule_;
  const StepSpan span_;
  RankAccount& account_;
  std::vector<Stretch> stretches_;
};

// The part within the step.
void RankAccountant::Push(Duration begin, Duration end, Layer layer,
                          sim::TaskId task, size_t family) {
  begin = std::max(begin, span_.begin);
  end = std::min(end, span_.end);
  if (begin < end) {
    stretches_.push_back({.begin = begin,
                          .end = end,
                          .layer = layer,
                          .task = task,
                          .family = family});
  }
}

void RankAccountant::AddActivity(sim::TaskId task, const ir::Activity& activity,
                                 bool own) {
  const sim::Placement& placement = schedule_.placements[task];
  const size_t family = data_.shapes[activity.shape].index();
  if (activity.kind == ir::ActivityKind::kCollective) {
    Push(placement.start, placement.run, Layer::kWaiting, task, family);
    Push(placement.run, placement.end, Layer::kCollective, task, family);
    account_.collective_wait +=
        std::max(Duration{}, std::min(placement.run, span_.end) -
                                 std::max(placement.start, span_.begin));
    return;
  }
  const auto* copy = std::get_if<ir::Copy>(&data_.shapes[activity.shape]);
  if (copy != nullptr && copy->kind == ir::CopyKind::kHostToHost) {
    Push(placement.start, placement.end, Layer::kHost, task, family);
    return;
  }
  const bool kernel = activity.kind == ir::ActivityKind::kKernel;
  Push(placement.start, placement.end, kernel ? Layer::kKernel : Layer::kCopy,
       task, family);
  account_.kernel_time += own ? placement.end - placement.start : Duration{};
}

void RankAccountant::Give(const Stretch& top, Duration length) {
  switch (top.layer) {
    case Layer::kKernel:
      account_.kernels[top.family] += length;
      break;
    case Layer::kCopy:
    case Layer::kHost:
      account_.copies_exposed += length;
      break;
    case Layer::kCollective:
      account_.communication_exposed += length;
      break;
    case Layer::kWaiting:
      account_.idle.wait_for_rank += length;
      break;
  }
}

void RankAccountant::GiveIdle(Duration begin, Duration end, size_t next) {
  if (begin < end) {
    AddIdle(lowered_, schedule_,
            next < stretches_.size() ? stretches_[next].task : sim::TaskId{},
            begin, end, account_.idle);
  }
}

// Sweeps over the starts and ends of all stretches.
void RankAccountant::Finish() {
  std::ranges::stable_sort(stretches_, {}, &Stretch::begin);
  std::vector<Interval> busy;
  for (const Stretch& stretch : stretches_) {
    if (stretch.layer != Layer::kHost && stretch.layer != Layer::kWaiting) {
      busy.push_back({stretch.begin, stretch.end});
    }
  }
  account_.gpu_active = TotalLength(Union(std::move(busy)));

  std::vector<size_t> running;  // By begin.
  Duration now = span_.begin;
  size_t next = 0;
  while (next < stretches_.size() || !running.empty()) {
    if (running.empty()) {
      GiveIdle(now, stretches_[next].begin, next);
      now = std::max(now, stretches_[next].begin);
    }
    while (next < stretches_.size() && stretches_[next].begin <= now) {
      running.push_back(next++);
    }
    const size_t top = *std::ranges::min_element(
        running, {}, [this](size_t i) { return stretches_[i].layer; });
    Duration until = stretches_[top].end;
    if (next < stretches_.size()) {
      until = std::min(until, stretches_[next].begin);
    }
    Give(stretches_[top], until - now);
    now = until;
    std::erase_if(running, [&](size_t i) { return stretches_[i].end <= now; });
  }
  GiveIdle(now, span_.end, next);
}

// When some thread of a rank did something.
struct HostTimes {
  std::vector<Interval> busy;
};

}  // namespace

std::vector<StepSpan> SingleSpans(const timeline::Lowered& lowered,
                                  const sim::Schedule& schedule) {
  std::vector<StepSpan> spans;
  for (const ir::RankId rank : lowered.rank_starts.ids()) {
    const Duration begin = lowered.rank_starts[rank];
    const sim::TaskId last = lowered.rank_ends.back()[rank];
    spans.push_back(
        {.begin = begin,
         .end = last.valid() ? schedule.placements[last].end : begin});
  }
  return spans;
}

std::vector<StepSpan> LastSpans(const timeline::Lowered& lowered,
                                const sim::Schedule& schedule) {
  std::vector<StepSpan> spans;
  for (const ir::RankId rank : lowered.rank_starts.ids()) {
    const Duration start = lowered.rank_starts[rank];
    spans.push_back({.begin = start, .end = start});
  }
  const auto last = static_cast<uint32_t>(lowered.rank_ends.size()) - 1;
  for (const sim::TaskId task : lowered.origins.ids()) {
    const TaskOrigin& origin = lowered.origins[task];
    const Duration end = schedule.placements[task].end;
    StepSpan& span = spans[origin.rank.value];
    span.end = std::max(span.end, end);
    if (origin.repeat < last) {
      span.begin = std::max(span.begin, end);
    }
  }
  return spans;
}

IdVector<ir::RankId, Duration> SteadyPeriods(const timeline::Lowered& lowered,
                                             const sim::Schedule& schedule,
                                             uint32_t last, uint32_t repeats) {
  struct Lane {
    Duration first{};
    Duration last{};
    ir::RankId rank{};
  };
  std::vector<Lane> lanes(lowered.tasks.lane_count());
  // Repeats come one after the other; those before do not matter.
  for (uint32_t i = lowered.origins.size(); i-- > 0;) {
    const sim::TaskId task{i};
    const TaskOrigin& origin = lowered.origins[task];
    if (origin.repeat + repeats < last) {
      break;
    }
    const Duration end = schedule.placements[task].end;
    Lane& lane = lanes[lowered.tasks.tasks()[task].lane.value];
    lane.rank = origin.rank;
    if (origin.repeat + repeats <= last) {
      lane.first = std::max(lane.first, end);
    }
    if (origin.repeat <= last) {
      lane.last = std::max(lane.last, end);
    }
  }
  IdVector<ir::RankId, Duration> periods(lowered.rank_starts.size());
  for (const Lane& lane : lanes) {
    if (lane.rank.valid()) {
      Duration& period = periods[lane.rank];
      period = std::max(period, (lane.last - lane.first) / repeats);
    }
  }
  return periods;
}

std::vector<StepSpan> SteadySpans(const timeline::Lowered& lowered,
                                  const sim::Schedule& schedule) {
  const auto last = static_cast<uint32_t>(lowered.rank_ends.size()) - 1;
  const IdVector<ir::RankId, Duration> periods =
      SteadyPeriods(lowered, schedule, last, lowered.steady_repeats);
  std::vector<StepSpan> spans(periods.size());
  for (uint32_t i = lowered.origins.size(); i-- > 0;) {
    const sim::TaskId task{i};
    if (lowered.origins[task].repeat < last) {
      break;
    }
    Duration& end = spans[lowered.origins[task].rank.value].end;
    end = std::max(end, schedule.placements[task].end);
  }
  for (const ir::RankId rank : periods.ids()) {
    StepSpan& span = spans[rank.value];
    span.begin = span.end - periods[rank];
  }
  return spans;
}

std::vector<StepSpan> SpansOf(const timeline::Lowered& lowered,
                              const sim::Schedule& schedule) {
  if (lowered.steady_repeats > 0) {
    return SteadySpans(lowered, schedule);
  }
  return lowered.rank_ends.size() > 1 ? LastSpans(lowered, schedule)
                                      : SingleSpans(lowered, schedule);
}

Duration LongestOf(const std::vector<StepSpan>& spans) {
  Duration longest{};
  for (const StepSpan& span : spans) {
    longest = std::max(longest, span.end - span.begin);
  }
  return longest;
}

std::vector<RankAccount> MakeAccounts(const ir::GraphData& data,
                                      const timeline::HostPlan& plan,
                                      const timeline::Lowered& lowered,
                                      const sim::Schedule& schedule,
                                      const std::vector<StepSpan>& spans) {
  std::vector<RankAccount> accounts(data.ranks.size());
  std::vector<HostTimes> hosts(data.ranks.size());
  std::vector<RankAccountant> accountants;
  for (const ir::RankId rank : data.ranks.ids()) {
    accounts[rank.value].rank = data.ranks[rank].number;
    accountants.emplace_back(data, lowered, schedule, spans[rank.value],
                             accounts[rank.value]);
  }
  const auto last = static_cast<uint32_t>(lowered.rank_ends.size()) - 1;
  for (const sim::TaskId task : lowered.origins.ids()) {
    const TaskOrigin& origin = lowered.origins[task];
    const sim::Placement& placement = schedule.placements[task];
    if (origin.kind == TaskOrigin::Kind::kActivity) {
      accountants[origin.rank.value].AddActivity(
          task, data.activities[origin.activity], origin.repeat == last);
    } else if (origin.kind != TaskOrigin::Kind::kStart &&
               origin.repeat == last) {
      const timeline::HostSegment& segment =
          plan.threads[origin.thread][origin.segment];
      accounts[origin.rank.value]
          .overheads[static_cast<size_t>(segment.kind)] +=
          placement.end - placement.start;
      hosts[origin.rank.value].busy.push_back({placement.start, placement.end});
    }
  }
  for (const ir::RankId rank : data.ranks.ids()) {
    accountants[rank.value].Finish();
    accounts[rank.value].host_busy =
        TotalLength(Union(std::move(hosts[rank.value].busy)));
  }
  return accounts;
}

}  // namespace stepcast::engine
