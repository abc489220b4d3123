#include "timeline/lower.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "ir/graph.h"

namespace stepcast::timeline {

ActivityTimes UniformTimes(const ir::GraphData& data,
                           const IdVector<ir::ActivityId, Duration>& durations,
                           const DeviceDelays& delays) {
  ActivityTimes times;
  times.activities.reserve(data.activities.size());
  for (const ir::ActivityId id : data.activities.ids()) {
    times.activities.push_back({.duration = durations[id],
                                .launch = delays.launch,
                                .gap = delays.gap});
  }
  times.wait_delays.assign(data.stream_waits.size(), delays.stream_wait);
  return times;
}

namespace {

// The likes of `left`, of before the step, among `own`; both of one stream.
void MatchFromEnd(const ir::GraphData& data,
                  std::span<const ir::ActivityId> left,
                  std::span<const ir::ActivityId> own,
                  IdVector<ir::ActivityId, ir::ActivityId>& likes) {
  size_t next = own.size();  // Those from here on are taken.
  for (size_t i = left.size(); i-- > 0;) {
    const StringId name = data.activities[left[i]].name;
    size_t found = next;
    while (found > 0 && data.activities[own[found - 1]].name != name) {
      --found;
    }
    if (found > 0) {
      next = found - 1;
    }
    likes[left[i]] = own[std::min(next, own.size() - 1)];
  }
}

using Kind = TaskOrigin::Kind;

// What a user can do about a cycle.
constexpr std::string_view kAdviceForRanks =
    "; expected ranks that start collectives in the same order; give the same "
    "step of every rank, or one rank alone with --rank";
constexpr std::string_view kAdviceForOne =
    "; expected activities on streams in the order of their launches; give "
    "another step with --step, or record the step again";

class Lowerer {
 public:
  Lowerer(const ir::Graph& graph, const HostPlan& plan,
          const ActivityTimes& times, const LowerOptions& options)
      : graph_(graph),
        data_(graph.data()),
        plan_(plan),
        times_(times),
        options_(options) {}

  Result<Lowered> Run();

 private:
  void FindStarts();
  void FindLastActivities();
  std::vector<ir::ActivityId> AwaitedBy(const HostSegment& segment) const;
  sim::TaskId TaskOf(ir::ActivityId id) const;
  bool left_over(ir::ActivityId id) const {
    return lowered_.left_overs[id].valid();
  }
  void AddStep(uint32_t repeat);
  void AddActivities(uint32_t repeat);
  void AddThread(ir::ThreadId thread, uint32_t repeat);
  void AddSegment(const HostSegment& segment, TaskOrigin origin,
                  sim::LaneId lane);
  void AddWaits();
  void AddQueues();
  void NoteRankEnds();
  sim::TaskId Add(const sim::Task& task, const TaskOrigin& origin);
  void Depend(sim::TaskId before, sim::TaskId after, Duration delay,
              Wait kind) {
    builder_.AddDependency({.before = before,
                            .after = after,
                            .delay = delay,
                            .kind = static_cast<uint8_t>(kind)});
  }
  std::string Describe(sim::TaskId task) const;

  const ir::Graph& graph_;
  const ir::GraphData& data_;
  const HostPlan& plan_;
  const ActivityTimes& times_;
  const LowerOptions& options_;
  sim::TaskGraphBuilder builder_;
  Lowered lowered_;
  IdVector<ir::ThreadId, sim::LaneId> thread_lanes_;
  IdVector<ir::StreamId, sim::LaneId> stream_lanes_;
  IdVector<ir::ThreadId, char> handed_over_;  // Waits for another thread.
  IdVector<ir::CallId, ir::ActivityId>
      last_activities_;  // If calls are synchronous.
  // Of the repeat before:
  IdVector<ir::ActivityId, sim::TaskId> tasks_before_;
  // Of the repeat that is being added:
  IdVector<ir::CallId, sim::TaskId> call_tasks_;
  IdVector<ir::CallId, sim::TaskId> before_call_;
  IdVector<ir::ThreadId, std::vector<sim::TaskId>> segment_tasks_;
  IdVector<ir::ThreadId, sim::TaskId> thread_ends_;
  /// By stream: of each call, the last task in it.
  IdVector<ir::StreamId, std::vector<sim::TaskId>> queued_;
};

sim::TaskId Lowerer::Add(const sim::Task& task, const TaskOrigin& origin) {
  const sim::TaskId id = builder_.AddTask(task);
  lowered_.origins.push_back(origin);
  return id;
}

void Lowerer::FindStarts() {
  lowered_.rank_starts = IdVector<ir::RankId, Duration>(data_.ranks.size());
  for (const ir::RankId rank : data_.ranks.ids()) {
    if (options_.rank_offsets) {
      lowered_.rank_starts[rank] =
          ir::StartOf(data_.ranks[rank].step).value_or(Duration{});
    }
  }
  handed_over_ = IdVector<ir::ThreadId, char>(data_.threads.size());
  for (const Handoff& handoff : plan_.handoffs) {
    handed_over_[handoff.to] = 1;
  }
}

void Lowerer::FindLastActivities() {
  last_activities_ = IdVector<ir::CallId, ir::ActivityId>(data_.calls.size());
  for (const ir::ActivityId id : data_.activities.ids()) {
    if (options_.synchronous && data_.activities[id].call.valid()) {
      last_activities_[data_.activities[id].call] = id;
    }
  }
}

// What a segment waits for before it ends.
std::vector<ir::ActivityId> Lowerer::AwaitedBy(
    const HostSegment& segment) const {
  std::vector<ir::ActivityId> activities;
  if (segment.awaited.valid()) {
    activities.push_back(segment.awaited);
  }
  if (!segment.call.valid()) {
    return activities;
  }
  for (const ir::HostWait& wait : ir::WaitsOf(data_, segment.call)) {
    activities.push_back(wait.before);
  }
  if (last_activities_[segment.call].valid()) {
    activities.push_back(last_activities_[segment.call]);
  }
  return activities;
}

// The task that stands for an activity, in this repeat or the one before.
sim::TaskId Lowerer::TaskOf(ir::ActivityId id) const {
  if (!options_.steady || !left_over(id)) {
    return lowered_.activity_tasks[id];
  }
  return tasks_before_.empty() ? sim::TaskId{}
                               : tasks_before_[lowered_.left_overs[id]];
}

void Lowerer::AddActivities(uint32_t repeat) {
  std::vector<sim::RendezvousId> rendezvous_list;
  for (uint32_t i = 0; i < data_.collectives.size(); ++i) {
    rendezvous_list.push_back(builder_.AddRendezvous());
  }
  for (const ir::ActivityId id : data_.activities.ids()) {
    const ir::Activity& activity = data_.activities[id];
    if (options_.steady ? left_over(id)
                        : repeat > 0 && !activity.call.valid()) {
      continue;  // From before the first.
    }
    const ActivityTime& time = times_.activities[id];
    const ir::RankId rank = data_.streams[activity.stream].rank;
    lowered_.activity_tasks[id] =
        Add({.lane = stream_lanes_[activity.stream],
             .duration = time.duration,
             .gap = time.gap,
             .release = activity.call.valid() || options_.steady
                            ? Duration{}
                            : time.release + lowered_.rank_starts[rank],
             .rendezvous = activity.collective.valid()
                               ? rendezvous_list[activity.collective.value]
                               : sim::RendezvousId{}},
            {.kind = Kind::kActivity,
             .rank = rank,
             .activity = id,
             .repeat = repeat});
  }
}

// A segment that waits for activities is two tasks, of which the second can
// only start when the activities are done.
void Lowerer::AddSegment(const HostSegment& segment, TaskOrigin origin,
                         sim::LaneId lane) {
  const sim::TaskId before{lowered_.origins.size() - 1};
  sim::TaskId task = Add({.lane = lane, .duration = segment.duration}, origin);
  if (segment.call.valid()) {
    before_call_[segment.call] = before;
    call_tasks_[segment.call] = task;
  }
  const std::vector<ir::ActivityId> awaited = AwaitedBy(segment);
  if (!awaited.empty()) {
    origin.kind = Kind::kReturn;
    task = Add({.lane = lane, .duration = segment.tail}, origin);
    for (const ir::ActivityId id : awaited) {
      const sim::TaskId activity = TaskOf(id);
      if (activity.valid()) {
        Depend(activity, task, {}, Wait::kHost);
      }
    }
  }
  segment_tasks_[origin.thread].push_back(task);
}

void Lowerer::AddThread(ir::ThreadId thread, uint32_t repeat) {
  const ir::RankId rank = data_.threads[thread].rank;
  const sim::LaneId lane = thread_lanes_[thread];
  const Duration own_start =
      handed_over_[thread] != 0 ? Duration{} : plan_.starts[thread];
  TaskOrigin origin{
      .kind = Kind::kStart, .rank = rank, .thread = thread, .repeat = repeat};
  sim::TaskId last = Add(
      {.lane = lane,
       .release = repeat == 0 ? std::max(lowered_.rank_starts[rank] + own_start,
                                         Duration{})
                              : Duration{}},
      origin);
  segment_tasks_[thread].clear();
  for (const HostSegment& segment : plan_.threads[thread]) {
    origin.kind = Kind::kSegment;
    origin.segment = static_cast<uint32_t>(segment_tasks_[thread].size());
    AddSegment(segment, origin, lane);
    last = segment_tasks_[thread].back();
  }
  thread_ends_[thread] = last;
}

void Lowerer::AddWaits() {
  for (const ir::ActivityId id : data_.activities.ids()) {
    const ir::CallId call = data_.activities[id].call;
    if (call.valid() && before_call_[call].valid()) {
      Depend(before_call_[call], lowered_.activity_tasks[id],
             times_.activities[id].launch, Wait::kLaunch);
    }
  }
  for (size_t i = 0; i < data_.stream_waits.size(); ++i) {
    const sim::TaskId before = TaskOf(data_.stream_waits[i].before);
    const sim::TaskId after =
        lowered_.activity_tasks[data_.stream_waits[i].after];
    if (before.valid() && after.valid()) {
      Depend(before, after, times_.wait_delays[i], Wait::kStreamWait);
    }
  }
  for (const Contention& contention : times_.contentions) {
    const sim::TaskId before = TaskOf(contention.before);
    const sim::TaskId after = lowered_.activity_tasks[contention.after];
    if (before.valid() && after.valid()) {
      Depend(before, after, contention.delay, Wait::kContention);
    }
  }
  for (const Handoff& handoff : plan_.handoffs) {
    // A call's segment ends with its return; one to wait for starts as a
    // segment.
    Depend(segment_tasks_[handoff.from][handoff.from_segment],
           segment_tasks_[handoff.to][handoff.to_segment], handoff.delay,
           Wait::kHandoff);
  }
}

// A launch blocks while its stream's queue is full. One call may launch many
// activities (a captured graph): the queue holds calls. In its steady state a
// step finds in it what the steps before have put there.
void Lowerer::AddQueues() {
  if (options_.launch_queue == 0) {
    return;
  }
  ir::StreamId stream{};
  ir::CallId last_call{};
  for (const ir::ActivityId id : data_.activities.ids()) {
    const ir::Activity& activity = data_.activities[id];
    const sim::TaskId task = lowered_.activity_tasks[id];
    std::vector<sim::TaskId>& queued = queued_[activity.stream];
    if (activity.stream != stream) {
      stream = activity.stream;
      last_call = {};
      if (!options_.steady) {
        queued.clear();
      }
    }
    if (!task.valid() || (options_.steady && left_over(id))) {
      continue;
    }
    if (activity.call.valid() && activity.call == last_call) {
      queued.back() = task;
      continue;
    }
    last_call = activity.call;
    queued.push_back(task);
    if (queued.size() > options_.launch_queue && activity.call.valid() &&
        call_tasks_[activity.call].valid()) {
      Depend(queued[queued.size() - 1 - options_.launch_queue],
             call_tasks_[activity.call], {}, Wait::kQueue);
    }
  }
}

void Lowerer::NoteRankEnds() {
  IdVector<ir::RankId, sim::TaskId> ends(data_.ranks.size());
  for (const ir::ThreadId id : data_.threads.ids()) {  // Main threads first.
    sim::TaskId& end = ends[data_.threads[id].rank];
    end = end.valid() ? end : thread_ends_[id];
  }
  lowered_.rank_ends.push_back(std::move(ends));
}

void Lowerer::AddStep(uint32_t repeat) {
  if (options_.steady && repeat > 0) {
    tasks_before_ = lowered_.activity_tasks;
  }
  call_tasks_ = IdVector<ir::CallId, sim::TaskId>(data_.calls.size());
  before_call_ = IdVector<ir::CallId, sim::TaskId>(data_.calls.size());
  AddActivities(repeat);
  for (const ir::ThreadId thread : data_.threads.ids()) {
    AddThread(thread, repeat);
  }
  AddWaits();
  AddQueues();
  NoteRankEnds();
}

std::string Lowerer::Describe(sim::TaskId task) const {
  const TaskOrigin& origin = lowered_.origins[task];
  const int64_t rank = data_.ranks[origin.rank].number;
  if (origin.kind == Kind::kActivity) {
    return fmt::format("rank {}'s {}", rank,
                       graph_.text(data_.activities[origin.activity].name));
  }
  if (origin.kind == Kind::kStart) {
    return fmt::format("the start of rank {}", rank);
  }
  const HostSegment& segment = plan_.threads[origin.thread][origin.segment];
  if (segment.call.valid()) {
    return fmt::format("rank {}'s {}", rank,
                       graph_.text(data_.calls[segment.call].name));
  }
  return fmt::format(
      "rank {}'s {}", rank,
      segment.op.valid() ? graph_.text(data_.ops[segment.op].name) : "host");
}

Result<Lowered> Lowerer::Run() {
  FindStarts();
  FindLastActivities();
  if (options_.steady) {
    lowered_.left_overs = LeftOvers(data_);
    lowered_.steady_repeats = 1;
  }
  lowered_.lanes_of_threads = data_.threads.size();
  for (uint32_t i = 0; i < data_.threads.size(); ++i) {
    thread_lanes_.push_back(builder_.AddLane());
  }
  for (uint32_t i = 0; i < data_.streams.size(); ++i) {
    stream_lanes_.push_back(builder_.AddLane());
  }
  lowered_.activity_tasks =
      IdVector<ir::ActivityId, sim::TaskId>(data_.activities.size());
  thread_ends_ = IdVector<ir::ThreadId, sim::TaskId>(data_.threads.size());
  segment_tasks_ =
      IdVector<ir::ThreadId, std::vector<sim::TaskId>>(data_.threads.size());
  queued_ =
      IdVector<ir::StreamId, std::vector<sim::TaskId>>(data_.streams.size());
  for (uint32_t repeat = 0; repeat < options_.repeats; ++repeat) {
    AddStep(repeat);
  }
  auto tasks = std::move(builder_).Build(
      [this](sim::TaskId task) { return Describe(task); });
  if (!tasks) {
    Error error = std::move(tasks).error();
    error.message += data_.ranks.size() > 1 ? kAdviceForRanks : kAdviceForOne;
    return tl::unexpected(std::move(error));
  }
  lowered_.tasks = *std::move(tasks);
  return std::move(lowered_);
}

}  // namespace

IdVector<ir::ActivityId, ir::ActivityId> LeftOvers(const ir::GraphData& data) {
  IdVector<ir::ActivityId, ir::ActivityId> likes(data.activities.size());
  std::vector<ir::ActivityId> left;
  std::vector<ir::ActivityId> own;
  ir::StreamId stream{};
  const auto finish = [&] {
    // A stream that nothing was launched into lacks its launches.
    if (!own.empty()) {
      MatchFromEnd(data, left, own, likes);
    }
    left.clear();
    own.clear();
  };
  for (const ir::ActivityId id : data.activities.ids()) {
    const ir::Activity& activity = data.activities[id];
    if (activity.stream != stream) {
      finish();
      stream = activity.stream;
    }
    (activity.call.valid() || !own.empty() ? own : left).push_back(id);
  }
  finish();
  return likes;
}

Result<Lowered> Lower(const ir::Graph& graph, const HostPlan& plan,
                      const ActivityTimes& times, const LowerOptions& options) {
  return Lowerer(graph, plan, times, options).Run();
}

}  // namespace stepcast::timeline
