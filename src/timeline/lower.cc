#include "timeline/lower.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "ir/graph.h"

namespace stepcast::timeline {

WorkTimes UniformTimes(const ir::GraphData& data,
                       const IdVector<ir::WorkId, Duration>& durations,
                       const DeviceDelays& delays) {
  WorkTimes times;
  times.works.reserve(data.works.size());
  for (const ir::WorkId id : data.works.ids()) {
    times.works.push_back({.duration = durations[id],
                           .launch = delays.launch,
                           .gap = delays.gap});
  }
  times.wait_delays.assign(data.stream_waits.size(), delays.stream_wait);
  return times;
}

namespace {

using Kind = TaskOrigin::Kind;

// What a user can do about a circle.
constexpr std::string_view kAdviceForRanks =
    "; expected ranks that start collectives in the same order; give the same "
    "step of every rank, or one rank alone with --rank";
constexpr std::string_view kAdviceForOne =
    "; expected works on streams in the order of their launches; give another "
    "step with --step, or record the step again";

class Lowerer {
 public:
  Lowerer(const ir::Graph& graph, const HostPlan& plan, const WorkTimes& times,
          const LowerOptions& options)
      : graph_(graph),
        data_(graph.data()),
        plan_(plan),
        times_(times),
        options_(options) {}

  Result<Lowered> Run();

 private:
  void FindStarts();
  void FindLastWorks();
  std::vector<ir::WorkId> AwaitedBy(ir::CallId call) const;
  void AddStep(uint32_t repeat);
  void AddWorks(uint32_t repeat);
  void AddThread(ir::ThreadId thread, uint32_t repeat);
  void AddCall(const HostPiece& piece, TaskOrigin origin, sim::LaneId lane);
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
  const WorkTimes& times_;
  const LowerOptions& options_;
  sim::TaskGraphBuilder builder_;
  Lowered lowered_;
  IdVector<ir::ThreadId, sim::LaneId> thread_lanes_;
  IdVector<ir::StreamId, sim::LaneId> stream_lanes_;
  IdVector<ir::ThreadId, char> handed_over_;     // Waits for another thread.
  IdVector<ir::CallId, ir::WorkId> last_works_;  // If calls are synchronous.
  // Of the repeat that is being added:
  IdVector<ir::CallId, sim::TaskId> call_tasks_;
  IdVector<ir::CallId, sim::TaskId> before_call_;
  IdVector<ir::ThreadId, std::vector<sim::TaskId>> piece_tasks_;
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
  for (const HandOver& hand_over : plan_.hand_overs) {
    handed_over_[hand_over.to] = 1;
  }
}

void Lowerer::FindLastWorks() {
  last_works_ = IdVector<ir::CallId, ir::WorkId>(data_.calls.size());
  for (const ir::WorkId id : data_.works.ids()) {
    if (options_.synchronous && data_.works[id].call.valid()) {
      last_works_[data_.works[id].call] = id;
    }
  }
}

// What a call waits for before it returns.
std::vector<ir::WorkId> Lowerer::AwaitedBy(ir::CallId call) const {
  std::vector<ir::WorkId> works;
  for (const ir::HostWait& wait : ir::WaitsOf(data_, call)) {
    works.push_back(wait.before);
  }
  if (last_works_[call].valid()) {
    works.push_back(last_works_[call]);
  }
  return works;
}

void Lowerer::AddWorks(uint32_t repeat) {
  std::vector<sim::MeetingId> meetings;
  for (uint32_t i = 0; i < data_.collectives.size(); ++i) {
    meetings.push_back(builder_.AddMeeting());
  }
  for (const ir::WorkId id : data_.works.ids()) {
    const ir::Work& work = data_.works[id];
    if (!work.call.valid() && repeat > 0) {
      continue;  // Left over from before the first.
    }
    const WorkTime& time = times_.works[id];
    const ir::RankId rank = data_.streams[work.stream].rank;
    lowered_.work_tasks[id] = Add(
        {.lane = stream_lanes_[work.stream],
         .duration = time.duration,
         .gap = time.gap,
         .release = work.call.valid()
                        ? Duration{}
                        : time.release + lowered_.rank_starts[rank],
         .meeting = work.collective.valid() ? meetings[work.collective.value]
                                            : sim::MeetingId{}},
        {.kind = Kind::kWork, .rank = rank, .work = id, .repeat = repeat});
  }
}

// A call that waits for works is two tasks, of which the second can only start
// when the works are done.
void Lowerer::AddCall(const HostPiece& piece, TaskOrigin origin,
                      sim::LaneId lane) {
  const sim::TaskId before{lowered_.origins.size() - 1};
  before_call_[piece.call] = before;
  sim::TaskId task = Add({.lane = lane, .duration = piece.duration}, origin);
  call_tasks_[piece.call] = task;
  const std::vector<ir::WorkId> awaited = AwaitedBy(piece.call);
  if (!awaited.empty()) {
    origin.kind = Kind::kReturn;
    task = Add({.lane = lane, .duration = piece.tail}, origin);
    for (const ir::WorkId id : awaited) {
      const sim::TaskId work = lowered_.work_tasks[id];
      if (work.valid()) {
        Depend(work, task, {}, Wait::kHost);
      }
    }
  }
  piece_tasks_[origin.thread].push_back(task);
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
  piece_tasks_[thread].clear();
  for (const HostPiece& piece : plan_.threads[thread]) {
    origin.kind = Kind::kPiece;
    origin.piece = static_cast<uint32_t>(piece_tasks_[thread].size());
    if (piece.call.valid()) {
      AddCall(piece, origin, lane);
    } else {
      piece_tasks_[thread].push_back(
          Add({.lane = lane, .duration = piece.duration}, origin));
    }
    last = piece_tasks_[thread].back();
  }
  thread_ends_[thread] = last;
}

void Lowerer::AddWaits() {
  for (const ir::WorkId id : data_.works.ids()) {
    const ir::CallId call = data_.works[id].call;
    if (call.valid() && before_call_[call].valid()) {
      Depend(before_call_[call], lowered_.work_tasks[id],
             times_.works[id].launch, Wait::kLaunch);
    }
  }
  for (size_t i = 0; i < data_.stream_waits.size(); ++i) {
    const sim::TaskId before =
        lowered_.work_tasks[data_.stream_waits[i].before];
    const sim::TaskId after = lowered_.work_tasks[data_.stream_waits[i].after];
    if (before.valid() && after.valid()) {
      Depend(before, after, times_.wait_delays[i], Wait::kStreamWait);
    }
  }
  for (const Contention& contention : times_.contentions) {
    const sim::TaskId before = lowered_.work_tasks[contention.before];
    const sim::TaskId after = lowered_.work_tasks[contention.after];
    if (before.valid() && after.valid()) {
      Depend(before, after, contention.delay, Wait::kContention);
    }
  }
  for (const HandOver& hand_over : plan_.hand_overs) {
    // A call's piece ends with its return; one to wait for starts as a piece.
    Depend(piece_tasks_[hand_over.from][hand_over.from_piece],
           piece_tasks_[hand_over.to][hand_over.to_piece], {}, Wait::kHandOver);
  }
}

// A launch blocks while its stream's queue is full. One call may launch many
// works (a captured graph): the queue holds calls.
void Lowerer::AddQueues() {
  if (options_.launch_queue == 0) {
    return;
  }
  std::vector<ir::WorkId> last_of_calls;
  ir::StreamId stream{};
  for (const ir::WorkId id : data_.works.ids()) {
    const ir::Work& work = data_.works[id];
    if (work.stream != stream) {
      stream = work.stream;
      last_of_calls.clear();
    }
    if (!last_of_calls.empty() && work.call.valid() &&
        data_.works[last_of_calls.back()].call == work.call) {
      last_of_calls.back() = id;
      continue;
    }
    last_of_calls.push_back(id);
    if (last_of_calls.size() > options_.launch_queue && work.call.valid() &&
        call_tasks_[work.call].valid()) {
      const ir::WorkId leaves =
          last_of_calls[last_of_calls.size() - 1 - options_.launch_queue];
      Depend(lowered_.work_tasks[leaves], call_tasks_[work.call], {},
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
  AddWorks(repeat);
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
  if (origin.kind == Kind::kWork) {
    return fmt::format("rank {}'s {}", rank,
                       graph_.text(data_.works[origin.work].name));
  }
  if (origin.kind == Kind::kStart) {
    return fmt::format("the start of rank {}", rank);
  }
  const HostPiece& piece = plan_.threads[origin.thread][origin.piece];
  if (piece.call.valid()) {
    return fmt::format("rank {}'s {}", rank,
                       graph_.text(data_.calls[piece.call].name));
  }
  return fmt::format(
      "rank {}'s {}", rank,
      piece.op.valid() ? graph_.text(data_.ops[piece.op].name) : "host");
}

Result<Lowered> Lowerer::Run() {
  FindStarts();
  FindLastWorks();
  lowered_.lanes_of_threads = data_.threads.size();
  for (uint32_t i = 0; i < data_.threads.size(); ++i) {
    thread_lanes_.push_back(builder_.AddLane());
  }
  for (uint32_t i = 0; i < data_.streams.size(); ++i) {
    stream_lanes_.push_back(builder_.AddLane());
  }
  lowered_.work_tasks = IdVector<ir::WorkId, sim::TaskId>(data_.works.size());
  thread_ends_ = IdVector<ir::ThreadId, sim::TaskId>(data_.threads.size());
  piece_tasks_ =
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
                      const WorkTimes& times, const LowerOptions& options) {
  return Lowerer(graph, plan, times, options).Run();
}

}  // namespace stepcast::timeline
