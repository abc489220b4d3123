#include "engine/explain/limits.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/explain/account.h"
#include "engine/run/replay.h"
#include "sim/simulate.h"

namespace stepcast::engine {
namespace {

using timeline::TaskOrigin;

constexpr size_t kKinds = kLimitKindCount;

// A device that is active for more than this share of the step is what limits
// it, whatever else would help a little, too.
constexpr double kBusyDevice = 0.95;

// Whatever a rank that comes late spends its time on could be free as well: so
// much of the largest slack is enough to name the rank instead.
constexpr double kMostlyRank = 0.8;

// Which part a task's own time is of; parts that are free take none.
class PartFinder {
 public:
  explicit PartFinder(const StepResult& result)
      : result_(result), data_(result.graph->data()) {
    loading_.assign(data_.ops.size(), 0);
    for (const ir::OpId id : data_.ops.ids()) {  // Parents come first.
      const ir::Op& op = data_.ops[id];
      const bool loading =
          op.phase == ir::Phase::kDataLoading ||
          (op.phase == ir::Phase::kUnknown && op.parent.valid() &&
           loading_[op.parent.value] != 0);
      loading_[id.value] = loading ? 1 : 0;
    }
  }

  LimitKind Of(const TaskOrigin& origin) const {
    if (origin.kind == TaskOrigin::Kind::kActivity) {
      return OfActivity(data_.activities[origin.activity]);
    }
    if (origin.kind == TaskOrigin::Kind::kStart) {
      return LimitKind::kHost;
    }
    const timeline::HostSegment& segment =
        result_.plan.threads[origin.thread][origin.segment];
    if (segment.op.valid() && loading_[segment.op.value] != 0) {
      return LimitKind::kData;
    }
    return segment.kind == cost::HostKind::kCall ? LimitKind::kLaunch
                                                 : LimitKind::kHost;
  }

 private:
  static LimitKind OfActivity(const ir::Activity& activity) {
    switch (activity.kind) {
      case ir::ActivityKind::kKernel:
        return LimitKind::kKernels;
      case ir::ActivityKind::kCollective:
        return LimitKind::kCollectives;
      default:
        return LimitKind::kCopies;
    }
  }

  const StepResult& result_;
  const ir::GraphData& data_;
  std::vector<char> loading_;  // By op.
};

using Free = std::array<bool, kKinds>;

class LimitFinder {
 public:
  LimitFinder(const StepResult& result, sim::TaskTimes times)
      : result_(result), tasks_(result.lowered.tasks), base_(std::move(times)) {
    const PartFinder finder(result);
    for (const TaskOrigin& origin : result.lowered.origins) {
      parts_.push_back(finder.Of(origin));
    }
  }

  StepLimits Run();

 private:
  std::vector<StepSpan> SpansWithout(const Free& free);
  Duration SlackOf(const Free& free) {
    return std::max(result_.step - LongestOf(SpansWithout(free)), Duration{});
  }
  void AddTimes(StepLimits& limits) const;
  void AddRanks(StepLimits& limits);
  LimitKind BoundOf(const StepLimits& limits) const;

  const StepResult& result_;
  const sim::TaskGraph& tasks_;
  const sim::TaskTimes base_;
  std::vector<LimitKind> parts_;  // By task.
  sim::TaskTimes times_;
  sim::Schedule schedule_;
};

std::vector<StepSpan> LimitFinder::SpansWithout(const Free& free) {
  times_ = base_;
  const bool launches = free[static_cast<size_t>(LimitKind::kLaunch)];
  for (const sim::TaskId task : tasks_.tasks().ids()) {
    if (free[static_cast<size_t>(parts_[task.value])]) {
      times_.durations[task.value] = {};
    }
    if (!launches) {
      continue;
    }
    times_.gaps[task.value] = {};
    uint32_t place = tasks_.first_wait(task);
    for (const sim::Dependency& wait : tasks_.waits(task)) {
      Duration& delay = times_.delays[place++];
      if (wait.kind == static_cast<uint8_t>(timeline::Wait::kLaunch)) {
        delay = std::min(delay, Duration{});  // No wait stays none.
      }
    }
  }
  sim::SimulateWith(tasks_, times_, schedule_);
  return SpansOf(result_.lowered, schedule_);
}

// What each part takes of the last repeat, on the rank that is shown.
void LimitFinder::AddTimes(StepLimits& limits) const {
  std::array<Duration, kKinds> times{};
  const auto last = static_cast<uint32_t>(result_.lowered.rank_ends.size()) - 1;
  for (const sim::TaskId task : tasks_.tasks().ids()) {
    const TaskOrigin& origin = result_.lowered.origins[task];
    if (origin.repeat == last && origin.rank.value == result_.slowest()) {
      times[static_cast<size_t>(parts_[task.value])] +=
          base_.durations[task.value];
    }
  }
  for (size_t i = 0; i < kKinds; ++i) {
    if (times[i] > Duration{}) {
      limits.limits.push_back(
          {.kind = static_cast<LimitKind>(i), .time = times[i]});
    }
  }
}

// Without waiting for each other, each rank takes as long as it alone does.
void LimitFinder::AddRanks(StepLimits& limits) {
  if (result_.graph->data().collectives.empty()) {
    return;
  }
  times_ = base_;
  std::ranges::fill(times_.apart, 1);
  sim::SimulateWith(tasks_, times_, schedule_);
  std::vector<Duration> alone;
  for (const StepSpan& span : SpansOf(result_.lowered, schedule_)) {
    alone.push_back(span.end - span.begin);
  }
  const Duration own = alone[result_.slowest()];
  std::ranges::sort(alone);
  const Duration median = alone[(alone.size() - 1) / 2];
  const Duration longer = std::max(own - median, Duration{});
  if (longer > Duration{}) {
    limits.limits.push_back(
        {.kind = LimitKind::kRanks,
         .time = longer,
         .slack =
             std::min(longer, std::max(result_.step - median, Duration{}))});
  }
}

LimitKind LimitFinder::BoundOf(const StepLimits& limits) const {
  const RankAccount account = result_.slowest_account();
  const auto slack = [&](LimitKind kind) {
    const Limit* const limit = limits.Find(kind);
    return limit == nullptr ? Duration{} : limit->slack;
  };
  const LimitKind host = slack(LimitKind::kLaunch) > slack(LimitKind::kHost)
                             ? LimitKind::kLaunch
                             : LimitKind::kHost;
  const LimitKind device =
      slack(LimitKind::kCopies) > slack(LimitKind::kKernels)
          ? LimitKind::kCopies
          : LimitKind::kKernels;
  const std::array<std::pair<LimitKind, Duration>, 5> candidates = {{
      {device, limits.device_slack},
      {host, limits.host_slack},
      {LimitKind::kCollectives, slack(LimitKind::kCollectives)},
      {LimitKind::kRanks, slack(LimitKind::kRanks)},
      {LimitKind::kData, slack(LimitKind::kData)},
  }};
  const bool busy = static_cast<double>(account.gpu_active.count()) >
                    kBusyDevice * static_cast<double>(account.step.count());
  auto best = candidates.begin();
  for (auto it = candidates.begin(); it != candidates.end(); ++it) {
    const bool of_host = it->first == host || it->first == LimitKind::kData;
    if (it->second > best->second && !(busy && of_host)) {
      best = it;
    }
  }
  const auto ranks = static_cast<double>(slack(LimitKind::kRanks).count());
  const bool late =
      ranks > 0 &&
      ranks >= kMostlyRank * static_cast<double>(best->second.count());
  return late ? LimitKind::kRanks : best->first;
}

// Of the collectives in which the others wait for that rank, the longest wait.
std::string WhyLast(const StepResult& result, int64_t rank) {
  std::string why;
  Duration longest{};
  for (CollectiveBlame& blame : BlameCollectives(
           *result.graph, result.plan, result.lowered, result.schedule)) {
    if (blame.last_rank == rank && blame.start_skew > longest) {
      longest = blame.start_skew;
      why = std::move(blame.blame);
    }
  }
  return why;
}

StepLimits LimitFinder::Run() {
  StepLimits limits;
  if (result_.accounts.empty()) {
    return limits;
  }
  limits.rank = result_.slowest_account().rank;
  AddTimes(limits);
  for (Limit& limit : limits.limits) {
    Free free{};
    free[static_cast<size_t>(limit.kind)] = true;
    limit.slack = SlackOf(free);
  }
  const auto together = [&](LimitKind a, LimitKind b) {
    Free free{};
    free[static_cast<size_t>(a)] = free[static_cast<size_t>(b)] = true;
    return SlackOf(free);
  };
  limits.host_slack = together(LimitKind::kHost, LimitKind::kLaunch);
  limits.device_slack = together(LimitKind::kKernels, LimitKind::kCopies);
  AddRanks(limits);
  limits.bound = BoundOf(limits);
  if (limits.bound == LimitKind::kRanks) {
    limits.why = WhyLast(result_, limits.rank);
  }
  return limits;
}

}  // namespace

std::string_view Name(LimitKind kind) {
  constexpr std::array<std::string_view, kKinds> kNames = {
      "host",          "launch", "kernels",     "copies",
      "communication", "ranks",  "data_loading"};
  return kNames[static_cast<size_t>(kind)];
}

const Limit* StepLimits::Find(LimitKind kind) const {
  const auto found = std::ranges::find(limits, kind, &Limit::kind);
  return found == limits.end() ? nullptr : &*found;
}

StepLimits FindLimits(const StepResult& result, const sim::TaskTimes* times) {
  return LimitFinder(result, times != nullptr
                                 ? *times
                                 : sim::TimesOf(result.lowered.tasks))
      .Run();
}

}  // namespace stepcast::engine
