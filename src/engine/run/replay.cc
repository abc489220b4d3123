#include "engine/run/replay.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <ratio>
#include <utility>

#include <fmt/format.h>

#include "base/diagnostics.h"
#include "base/parallel.h"
#include "base/stats.h"
#include "base/text/join.h"
#include "base/text/text_table.h"
#include "base/units.h"
#include "engine/explain/path_parts.h"
#include "sim/critical_path.h"
#include "trace/build/build_graph.h"
#include "trace/link/find_steps.h"

namespace stepcast::engine {
namespace {

using StepName = std::optional<int64_t>;

// A step in full.
struct FullStep {
  Replay replay;
  StepResult steady;
};

// A step, replayed or not.
struct Attempt {
  std::vector<ReplayedRank> ranks{};
  Duration steady{};
  std::string why{};  // Not.
};

Result<FullStep> ReplayOne(const trace::GraphMaker& graphs, StepName step) {
  Diagnostics ignored;
  ASSIGN_OR_RETURN(ir::Graph made, graphs.Make({.step = step}, ignored));
  const auto graph = std::make_shared<const ir::Graph>(std::move(made));
  FullStep full;
  ASSIGN_OR_RETURN(full.replay, ReplayStep(graph));
  ASSIGN_OR_RETURN(full.steady, SteadyStep(graph));
  return full;
}

Duration MedianDuration(std::vector<Duration> times) {
  std::ranges::sort(times);
  return (times[(times.size() - 1) / 2] + times[times.size() / 2]) / 2;
}

void SumUp(ReplayedJob& job) {
  Errors errors;
  for (const ReplayedStep& step : job.steps) {
    for (const ReplayedRank& rank : step.ranks) {
      errors.Add(1 + rank.error(), 1);
      job.max_abs_pct =
          std::max(job.max_abs_pct, kPercent * std::abs(rank.error()));
      job.max_unexplained = std::max(job.max_unexplained, rank.unexplained);
    }
  }
  job.errors = errors.Summary();
  std::vector<Duration> distances;
  for (const ReplayedStep& step : job.steps) {
    if (step.distance) {
      distances.push_back(*step.distance);
    }
  }
  if (!distances.empty()) {
    job.distance = MedianDuration(std::move(distances));
  }
}

// The step of median length.
size_t MedianOf(const std::vector<ReplayedStep>& steps) {
  std::vector<std::pair<Duration, size_t>> lengths;
  for (size_t i = 0; i < steps.size(); ++i) {
    lengths.emplace_back(steps[i].measured(), i);
  }
  std::ranges::sort(lengths);
  return lengths[(lengths.size() - 1) / 2].second;
}

}  // namespace

Duration ReplayedStep::measured() const {
  Duration longest{};
  for (const ReplayedRank& rank : ranks) {
    longest = std::max(longest, rank.measured);
  }
  return longest;
}

Result<ReplayedJob> ReplayJob(std::span<const trace::RankTrace> ranks,
                              const trace::Rules& rules,
                              const ReplayOptions& options) {
  // The one that is reported in full, unless it cannot be replayed.
  ASSIGN_OR_RETURN(const StepName chosen,
                   trace::StepNumber(ranks, options.step));
  const std::vector<StepName> names = options.step || !chosen
                                          ? std::vector<StepName>{chosen}
                                          : trace::CommonSteps(ranks);
  const trace::GraphMaker graphs(ranks, rules);
  std::optional<Result<FullStep>> full;
  std::vector<Attempt> attempts(names.size());
  ParallelFor(names.size(), options.threads, [&](size_t i) {
    Result<FullStep> step = ReplayOne(graphs, names[i]);
    attempts[i] =
        step ? Attempt{.ranks = step->replay.ranks, .steady = step->steady.step}
             : Attempt{.why = step.error().message};
    if (names[i] == chosen) {
      full = std::move(step);
    }
  });
  const std::map<int64_t, Duration> distances = trace::StepDistances(ranks);
  ReplayedJob job;
  for (size_t i = 0; i < names.size(); ++i) {
    if (attempts[i].why.empty()) {
      const auto distance =
          names[i] ? distances.find(*names[i]) : distances.end();
      job.steps.push_back({.step = names[i],
                           .ranks = std::move(attempts[i].ranks),
                           .steady = attempts[i].steady,
                           .distance = distance == distances.end()
                                           ? std::nullopt
                                           : std::optional(distance->second)});
    } else {
      job.skipped.push_back(
          {.step = names[i], .why = std::move(attempts[i].why)});
    }
  }
  job.step = chosen;
  if (!*full && !job.steps.empty()) {
    job.step = job.steps[MedianOf(job.steps)].step;
    full = ReplayOne(graphs, job.step);
  }
  if (!*full) {
    return tl::unexpected(std::move(*full).error());
  }
  SumUp(job);
  job.replay = std::move((*full)->replay);
  job.steady = std::move((*full)->steady);
  job.leads = HostLeads(job.replay.result.graph->data());
  return job;
}

namespace {

using std::chrono::microseconds;

// Shorter skews are what any two ranks differ by.
constexpr Duration kNoticed = microseconds(20);

// Paths that are alike differ by not much more than the skew itself.
using Alike = std::ratio<3, 2>;

class Blamer {
 public:
  Blamer(const ir::Graph& graph, const timeline::HostPlan& plan,
         const timeline::Lowered& lowered, const sim::Schedule& schedule)
      : graph_(graph), plan_(plan), lowered_(lowered), schedule_(schedule) {}

  std::optional<CollectiveBlame> Visit(ir::CollectiveId id) const;

 private:
  // What time goes to, and on which rank, if it is not that of the path's end.
  struct Subject {
    PathSubject what{};
    ir::RankId rank{};
    // clang-tidy 14 takes the 0 in a rewritten `a < b` for a pointer.
    // NOLINTNEXTLINE(modernize-use-nullptr)
    friend auto operator<=>(const Subject&, const Subject&) = default;
  };
  // What a way through the schedule spent its time on.
  using Spent = std::map<Subject, Duration>;

  ir::RankId RankOf(sim::TaskId task) const {
    return lowered_.origins[task].rank;
  }
  int64_t NumberOf(sim::TaskId task) const {
    return graph_.data().ranks[RankOf(task)].number;
  }
  Subject SubjectOf(const PathPart& part, sim::TaskId end) const;
  std::vector<PathPart> PartsUntilStart(sim::TaskId task) const;
  Spent Excess(sim::TaskId first, sim::TaskId last) const;
  Spent SpentMeanwhile(sim::TaskId first, sim::TaskId last) const;
  std::string Tell(const Spent& spent, Duration skew,
                   std::string_view sign) const;
  std::string Explain(sim::TaskId first, sim::TaskId last) const;

  const ir::Graph& graph_;
  const timeline::HostPlan& plan_;
  const timeline::Lowered& lowered_;
  const sim::Schedule& schedule_;
};

// Which kernel or gap it was hardly matters to who waits on another rank.
PathSubject Coarse(const PathSubject& subject) {
  switch (subject.kind) {
    case PathKind::kHost:
    case PathKind::kSync:
    case PathKind::kWait:
      return subject;
    case PathKind::kCopy:
      return {.kind = PathKind::kKernel};
    default:
      return {.kind = subject.kind};
  }
}

std::string CoarseText(const ir::Graph& graph, const PathSubject& subject) {
  switch (subject.kind) {
    case PathKind::kHost:
    case PathKind::kSync:
    case PathKind::kWait:
      return Text(graph, subject);
    case PathKind::kKernel:
    case PathKind::kCopy:
      return "in kernels and copies";
    case PathKind::kCollective:
      return "in collectives";
    case PathKind::kLaunch:
      break;
  }
  return "in launches and gaps of the device";
}

Blamer::Subject Blamer::SubjectOf(const PathPart& part, sim::TaskId end) const {
  return {.what = Coarse(part.subject),
          .rank = part.rank == RankOf(end) ? ir::RankId{} : part.rank};
}

// The path that made `task` start when it did.
std::vector<PathPart> Blamer::PartsUntilStart(sim::TaskId task) const {
  const std::vector<sim::PathStep> path =
      sim::PathToStart(lowered_.tasks, schedule_, task);
  return DescribePath(graph_.data(), plan_, lowered_, path);
}

// How many parts both paths begin with.
size_t CommonParts(const std::vector<PathPart>& a,
                   const std::vector<PathPart>& b) {
  size_t count = 0;
  while (count < a.size() && count < b.size() &&
         a[count].task == b[count].task && a[count].begin == b[count].begin &&
         a[count].end == b[count].end) {
    ++count;
  }
  return count;
}

// What the last one's path spent more than the first one's. Both begin at time
// zero, so it sums up to the skew.
Blamer::Spent Blamer::Excess(sim::TaskId first, sim::TaskId last) const {
  const std::vector<PathPart> more = PartsUntilStart(last);
  const std::vector<PathPart> less = PartsUntilStart(first);
  Spent spent;
  for (size_t i = CommonParts(more, less); i < more.size(); ++i) {
    spent[SubjectOf(more[i], last)] += more[i].end - more[i].begin;
  }
  for (size_t i = CommonParts(more, less); i < less.size(); ++i) {
    spent[SubjectOf(less[i], first)] -= less[i].end - less[i].begin;
  }
  return spent;
}

// What the last one's path spent while the first one waited.
Blamer::Spent Blamer::SpentMeanwhile(sim::TaskId first,
                                     sim::TaskId last) const {
  const Duration since = schedule_.placements[first].start;
  Spent spent;
  for (const PathPart& part : PartsUntilStart(last)) {
    if (part.end > since) {
      spent[SubjectOf(part, last)] += part.end - std::max(part.begin, since);
    }
  }
  return spent;
}

// The largest ones, until most of it is explained.
std::string Blamer::Tell(const Spent& spent, Duration skew,
                         std::string_view sign) const {
  constexpr int kTenths = 10;
  constexpr size_t kMostReported = 3;
  std::vector<std::pair<Subject, Duration>> most(spent.begin(), spent.end());
  std::ranges::stable_sort(
      most, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> texts;
  Duration reported{};
  for (const auto& [subject, time] : most) {
    if (time * kTenths < skew || reported * kTenths > skew * (kTenths - 1) ||
        texts.size() == kMostReported) {
      break;
    }
    reported += time;
    const int64_t us = std::chrono::round<microseconds>(time).count();
    texts.push_back(fmt::format("{}{} us {}", sign, WithThousands(us),
                                CoarseText(graph_, subject.what)));
    if (subject.rank.valid()) {
      texts.back() +=
          fmt::format(" of rank {}", graph_.data().ranks[subject.rank].number);
    }
  }
  return texts.empty() ? "a little of everything" : Join(texts, ", ");
}

// Ranks that do the same are best compared. Where the path of one was over its
// host and that of the other over its device, everything differs and nothing
// can be concluded.
std::string Blamer::Explain(sim::TaskId first, sim::TaskId last) const {
  const Duration skew =
      schedule_.placements[last].start - schedule_.placements[first].start;
  const Spent excess = Excess(first, last);
  Duration more{};
  for (const auto& [subject, time] : excess) {
    more += std::max(time, Duration{});
  }
  if (more * Alike::den <= skew * Alike::num) {
    return fmt::format("rank {} against rank {}: {}", NumberOf(last),
                       NumberOf(first), Tell(excess, skew, "+"));
  }
  return fmt::format("rank {} while rank {} waited: {}", NumberOf(last),
                     NumberOf(first),
                     Tell(SpentMeanwhile(first, last), skew, ""));
}

std::optional<CollectiveBlame> Blamer::Visit(ir::CollectiveId id) const {
  const ir::GraphData& data = graph_.data();
  const ir::MatchedCollective& collective = data.collectives[id];
  CollectiveBlame found{.id = id, .kind = collective.kind};
  std::vector<sim::TaskId> tasks;
  for (const ir::ActivityId activity : collective.activities) {
    const sim::TaskId task = lowered_.activity_tasks[activity];
    if (!task.valid()) {
      return std::nullopt;
    }
    tasks.push_back(task);
    found.ranks.push_back(
        data.ranks[data.streams[data.activities[activity].stream].rank].number);
  }
  const auto start_of = [this](sim::TaskId task) {
    return schedule_.placements[task].start;
  };
  const auto [first, last] = std::ranges::minmax_element(tasks, {}, start_of);
  // If several start at the same time, the lowest rank is reported.
  const auto last_first = std::ranges::find(tasks, start_of(*last), start_of);
  found.start = start_of(*first);
  found.start_skew = start_of(*last) - found.start;
  found.last_rank =
      found.ranks[static_cast<size_t>(last_first - tasks.begin())];
  for (const sim::TaskId task : tasks) {
    found.waits.push_back(start_of(*last) - start_of(task));
    found.own =
        std::max(found.own, schedule_.placements[task].end - start_of(*last));
  }
  if (found.start_skew >= kNoticed) {
    found.blame = Explain(*first, *last_first);
  }
  return found;
}

}  // namespace

std::vector<CollectiveBlame> BlameCollectives(const ir::Graph& graph,
                                              const timeline::HostPlan& plan,
                                              const timeline::Lowered& lowered,
                                              const sim::Schedule& schedule) {
  const Blamer blamer(graph, plan, lowered, schedule);
  std::vector<CollectiveBlame> found;
  for (const ir::CollectiveId id : graph.data().collectives.ids()) {
    if (auto blame = blamer.Visit(id)) {
      found.push_back(*std::move(blame));
    }
  }
  std::ranges::stable_sort(found, {}, [](const CollectiveBlame& blame) {
    return blame.start + blame.start_skew;
  });
  return found;
}

namespace {

using std::chrono::microseconds;

// A call that returns so long after all it is known to wait for waited for
// something else, too. Returns of syncs take up to 70 us in the traces at hand.
constexpr Duration kLongTail = microseconds(100);

// How long each rank's device ran anything within the step.
IdVector<ir::RankId, Duration> MeasuredActive(
    const ir::GraphData& data, const timeline::ActivityTimes& times) {
  IdVector<ir::RankId, std::vector<Interval>> busy(data.ranks.size());
  for (const ir::ActivityId id : data.activities.ids()) {
    const ir::Activity& activity = data.activities[id];
    if (!ir::StartOf(activity.measured)) {
      continue;
    }
    const ir::RankId rank = data.streams[activity.stream].rank;
    const Duration done =
        *activity.measured->start + activity.measured->duration;
    // A collective that waits for other ranks is not active.
    const Duration start = std::max(activity.collective.valid()
                                        ? done - times.activities[id].duration
                                        : *activity.measured->start,
                                    Duration{});
    const Duration end = std::min(done, data.ranks[rank].step->duration);
    if (start < end) {
      busy[rank].push_back({start, end});
    }
  }
  IdVector<ir::RankId, Duration> active;
  for (std::vector<Interval>& intervals : busy) {
    active.push_back(TotalLength(Union(std::move(intervals))));
  }
  return active;
}

void AddLateStarts(const std::vector<timeline::LateStart>& late_starts,
                   Replay& replay) {
  const ir::Graph& graph = *replay.result.graph;
  const ir::GraphData& data = graph.data();
  for (const timeline::LateStart& late : late_starts) {
    const ir::Activity& activity = data.activities[late.activity];
    constexpr auto kAfter = [](timeline::StartCause cause) -> std::string_view {
      switch (cause) {
        case timeline::StartCause::kLaunch:
          return "its launch";
        case timeline::StartCause::kStream:
          return "the work before it";
        default:
          return "what its stream waited for";
      }
    };
    replay.unexplained.push_back(
        {.rank = data.ranks[data.streams[activity.stream].rank].number,
         .what = fmt::format("{} started late after {}",
                             ShortActivityName(graph.text(activity.name)),
                             kAfter(late.cause)),
         .at = *activity.measured->start,
         .time = late.late});
  }
}

void AddLongTails(Replay& replay) {
  const ir::Graph& graph = *replay.result.graph;
  const ir::GraphData& data = graph.data();
  for (const ir::ThreadId thread : data.threads.ids()) {
    for (const timeline::HostSegment& segment :
         replay.result.plan.threads[thread]) {
      if (segment.call.valid() && segment.tail > kLongTail) {
        const ir::Call& call = data.calls[segment.call];
        replay.unexplained.push_back(
            {.rank = data.ranks[data.threads[thread].rank].number,
             .what = fmt::format("{} returned late after what it waited for",
                                 graph.text(call.name)),
             .at = *call.measured->start,
             .time = segment.tail});
      }
    }
  }
}

void FillRanks(const ir::GraphData& data, const timeline::ActivityTimes& times,
               Replay& replay) {
  std::map<int64_t, Duration> unexplained;
  for (const Unexplained& item : replay.unexplained) {
    unexplained[item.rank] += item.time;
  }
  const IdVector<ir::RankId, Duration> active = MeasuredActive(data, times);
  for (const ir::RankId rank : data.ranks.ids()) {
    const RankAccount& account = replay.result.accounts[rank.value];
    ReplayedRank& added = replay.ranks.emplace_back();
    added.rank = data.ranks[rank].number;
    added.measured = data.ranks[rank].step->duration;
    added.simulated = account.step;
    added.gpu_active_measured = active[rank];
    added.gpu_active_simulated = account.gpu_active;
    added.unexplained = unexplained[added.rank];
  }
}

}  // namespace

Status CheckReplayable(const ir::GraphData& data) {
  IdVector<ir::RankId, char> has_host(data.ranks.size());
  for (const ir::Thread& thread : data.threads) {
    has_host[thread.rank] = 1;
  }
  for (const ir::RankId id : data.ranks.ids()) {
    const ir::Rank& rank = data.ranks[id];
    if (!rank.step) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("rank {} has no measured step; expected a "
                              "profiler trace to replay",
                              rank.number));
    }
    if (has_host[id] == 0) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("rank {} has no op and no call in the step; "
                              "expected the host's part of it",
                              rank.number));
    }
  }
  return {};
}

PricedActivities MeasuredActivities(const ir::GraphData& data,
                                    const timeline::ActivityTimes& times) {
  PricedActivities activities;
  activities.models.emplace_back();
  activities.prices =
      IdVector<ir::ActivityId, ActivityPrice>(data.activities.size());
  double total = 0;
  for (const ir::ActivityId id : data.activities.ids()) {
    const double us = ToMicroseconds(times.activities[id].duration);
    activities.prices[id] = {.p10_us = us,
                             .p50_us = us,
                             .p90_us = us,
                             .source = data.activities[id].measured
                                           ? cost::Origin::kMeasured
                                           : cost::Origin::kUnknown};
    total += us;
  }
  activities.coverage[static_cast<size_t>(cost::Origin::kMeasured)] =
      total > 0 ? 1 : 0;
  return activities;
}

Result<Replay> ReplayStep(std::shared_ptr<const ir::Graph> graph) {
  const ir::GraphData& data = graph->data();
  RETURN_IF_ERROR(CheckReplayable(data));
  Replay replay;
  StepResult& result = replay.result;
  result.graph = std::move(graph);
  result.plan = timeline::MeasuredPlan(data);
  timeline::MeasuredTimes measured = timeline::TakeMeasuredTimes(data);
  result.activities = MeasuredActivities(data, measured.times);
  result.causes = std::move(measured.causes);
  // What a full launch queue blocked is in the calls' measured durations.
  ASSIGN_OR_RETURN(result.lowered,
                   timeline::Lower(*result.graph, result.plan, measured.times,
                                   {.launch_queue = 0}));
  result.schedule = sim::Simulate(result.lowered.tasks);
  TakeSchedule(SpansOf(result.lowered, result.schedule), result);
  replay.collectives = BlameCollectives(*result.graph, result.plan,
                                        result.lowered, result.schedule);
  replay.overlaps = measured.overlaps;
  AddLateStarts(measured.late_starts, replay);
  AddLongTails(replay);
  std::ranges::stable_sort(replay.unexplained,
                           [](const Unexplained& a, const Unexplained& b) {
                             return a.time > b.time;
                           });
  FillRanks(data, measured.times, replay);
  return replay;
}

}  // namespace stepcast::engine
