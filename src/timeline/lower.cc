#include "timeline/lower.h"

#include <algorithm>
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
  std::vector<ir::ActivityId> AwaitedBy(ir::CallId call) const;
  void AddStep(uint32_t repeat);
  void AddActivities(uint32_t repeat);
  void AddThread(ir::ThreadId thread, uint32_t repeat);
  void AddCall(const HostSegment& segment, TaskOrigin origin, sim::LaneId lane);
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
  // Of the repeat that is being added:
  IdVector<ir::CallId, sim::TaskId> call_tasks_;
  IdVector<ir::CallId, sim::TaskId> before_call_;
  IdVector<ir::ThreadId, std::vector<sim::TaskId>> segment_tasks_;
  IdVector<ir::ThreadId, sim::TaskId> thread_ends_;
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

// What a call waits for before it returns.
std::vector<ir::ActivityId> Lowerer::AwaitedBy(ir::CallId call) const {
  std::vector<ir::ActivityId> activities;
  for (const ir::HostWait& wait : ir::WaitsOf(data_, call)) {
    activities.push_back(wait.before);
  }
  if (last_activities_[call].valid()) {
    activities.push_back(last_activities_[call]);
  }
  return activities;
}

void Lowerer::AddActivities(uint32_t repeat) {
  std::vector<sim::RendezvousId> rendezvous_list;
  for (uint32_t i = 0; i < data_.collectives.size(); ++i) {
    rendezvous_list.push_back(builder_.AddRendezvous());
  }
  for (const ir::ActivityId id : data_.activities.ids()) {
    const ir::Activity& activity = data_.activities[id];
    if (!activity.call.valid() && repeat > 0) {
      continue;  // Left over from before the first.
    }
    const ActivityTime& time = times_.activities[id];
    const ir::RankId rank = data_.streams[activity.stream].rank;
    lowered_.activity_tasks[id] =
        Add({.lane = stream_lanes_[activity.stream],
             .duration = time.duration,
             .gap = time.gap,
             .release = activity.call.valid()
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

// A call that waits for activities is two tasks, of which the second can only
// start when the activities are done.
void Lowerer::AddCall(const HostSegment& segment, TaskOrigin origin,
                      sim::LaneId lane) {
  const sim::TaskId before{lowered_.origins.size() - 1};
  before_call_[segment.call] = before;
  sim::TaskId task = Add({.lane = lane, .duration = segment.duration}, origin);
  call_tasks_[segment.call] = task;
  const std::vector<ir::ActivityId> awaited = AwaitedBy(segment.call);
  if (!awaited.empty()) {
    origin.kind = Kind::kReturn;
    task = Add({.lane = lane, .duration = segment.tail}, origin);
    for (const ir::ActivityId id : awaited) {
      const sim::TaskId activity = lowered_.activity_tasks[id];
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
    if (segment.call.valid()) {
      AddCall(segment, origin, lane);
    } else {
      segment_tasks_[thread].push_back(
          Add({.lane = lane, .duration = segment.duration}, origin));
    }
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
    const sim::TaskId before =
        lowered_.activity_tasks[data_.stream_waits[i].before];
    const sim::TaskId after =
        lowered_.activity_tasks[data_.stream_waits[i].after];
    if (before.valid() && after.valid()) {
      Depend(before, after, times_.wait_delays[i], Wait::kStreamWait);
    }
  }
  for (const Contention& contention : times_.contentions) {
    const sim::TaskId before = lowered_.activity_tasks[contention.before];
    const sim::TaskId after = lowered_.activity_tasks[contention.after];
    if (before.valid() && after.valid()) {
      Depend(before, after, contention.delay, Wait::kContention);
    }
  }
  for (const Handoff& handoff : plan_.handoffs) {
    // A call's segment ends with its return; one to wait for starts as a
    // segment.
    Depend(segment_tasks_[handoff.from][handoff.from_segment],
           segment_tasks_[handoff.to][handoff.to_segment], {}, Wait::kHandoff);
  }
}

// A launch blocks while its stream's queue is full. One call may launch many
// activities (a captured graph): the queue holds calls.
void Lowerer::AddQueues() {
  if (options_.launch_queue == 0) {
    return;
  }
  std::vector<ir::ActivityId> last_of_calls;
  ir::StreamId stream{};
  for (const ir::ActivityId id : data_.activities.ids()) {
    const ir::Activity& activity = data_.activities[id];
    if (activity.stream != stream) {
      stream = activity.stream;
      last_of_calls.clear();
    }
    if (!last_of_calls.empty() && activity.call.valid() &&
        data_.activities[last_of_calls.back()].call == activity.call) {
      last_of_calls.back() = id;
      continue;
    }
    last_of_calls.push_back(id);
    if (last_of_calls.size() > options_.launch_queue && activity.call.valid() &&
        call_tasks_[activity.call].valid()) {
      const ir::ActivityId leaves =
          last_of_calls[last_of_calls.size() - 1 - options_.launch_queue];
      Depend(lowered_.activity_tasks[leaves], call_tasks_[activity.call], {},
             Wait::kQueue);
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

Result<Lowered> Lower(const ir::Graph& graph, const HostPlan& plan,
                      const ActivityTimes& times, const LowerOptions& options) {
  return Lowerer(graph, plan, times, options).Run();
}

}  // namespace stepcast::timeline
