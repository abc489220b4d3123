// Links tasks to what they wait for, and has them ordered.
#include "sim/task_graph.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/result.h"

namespace stepcast::sim {
namespace {

// The order in which the tasks of a graph can run.

struct TaskOrder {
  std::vector<TaskId> order;
  std::vector<TaskId> closers;  // By rendezvous: its last member in `order`.
};

class Orderer {
 public:
  explicit Orderer(const TaskGraph& graph)
      : graph_(graph),
        cause_(graph.tasks().size(), 0),
        done_(graph.tasks().size(), 0),
        first_hanging_(graph.tasks().size()),
        next_hanging_(graph.tasks().size()) {
    order_.reserve(graph.tasks().size());
    closers_.resize(graph.rendezvous_count());
    for (uint32_t i = 0; i < graph.rendezvous_count(); ++i) {
      missing_.push_back(
          static_cast<uint32_t>(graph.members(RendezvousId{i}).size()));
    }
  }

  /// False if some tasks cannot be placed.
  bool Run() {
    for (const TaskId task : graph_.tasks().ids()) {
      if (IsReady(task)) {
        Place(task);
      }
      // What hung on tasks placed since has a smaller id than all to come.
      while (!ready_.empty()) {
        const TaskId next = ready_.top();
        ready_.pop();
        Place(next);
      }
    }
    return order_.size() == graph_.tasks().size();
  }

  TaskOrder TakeOrder() {
    return {.order = std::move(order_), .closers = std::move(closers_)};
  }

  /// Once Run() is false: tasks that wait for each other, as a sentence.
  std::string DescribeCycle(
      const std::function<std::string(TaskId)>& describe) const;

 private:
  /// Why one task of a cycle cannot run.
  struct Hop {
    TaskId task{};
    const char* verb = "";
  };

  /// The task that `task` waits for in place `cause_[task]`; invalid if there
  /// are no more.
  TaskId CurrentCause(TaskId task) const {
    const uint32_t place = cause_[task.value];
    const auto waits = graph_.waits(task);
    if (place == 0) {
      return graph_.previous(task);
    }
    return place <= waits.size() ? waits[place - 1].before : TaskId{};
  }

  /// Steps over causes that are done; hangs the task on the first that is not.
  bool IsReady(TaskId task) {
    const auto count = static_cast<uint32_t>(graph_.waits(task).size());
    for (uint32_t& place = cause_[task.value]; place <= count; ++place) {
      const TaskId cause = CurrentCause(task);
      if (cause.valid() && done_[cause.value] == 0) {
        next_hanging_[task.value] = first_hanging_[cause.value];
        first_hanging_[cause.value] = task;
        return false;
      }
    }
    return true;
  }

  void Place(TaskId task) {
    order_.push_back(task);
    const RendezvousId rendezvous = graph_.tasks()[task].rendezvous;
    if (!rendezvous.valid()) {
      Finish(task);
      return;
    }
    if (--missing_[rendezvous.value] == 0) {
      closers_[rendezvous.value] = task;
      for (const TaskId member : graph_.members(rendezvous)) {
        Finish(member);
      }
    }
  }

  void Finish(TaskId task) {
    done_[task.value] = 1;
    TaskId hanging = first_hanging_[task.value];
    while (hanging.valid()) {
      const TaskId next = next_hanging_[hanging.value];
      if (IsReady(hanging)) {
        ready_.push(hanging);
      }
      hanging = next;
    }
  }

  /// Tasks and how each is held up by the next, the last by the first.
  std::vector<Hop> FindCycle() const;

  const TaskGraph& graph_;
  std::vector<uint32_t> cause_;  // Place of the first cause not seen done.
  std::vector<uint8_t> done_;
  std::vector<TaskId> first_hanging_;  // By cause; a list through the next.
  std::vector<TaskId> next_hanging_;
  std::vector<uint32_t> missing_;  // Members of a rendezvous not yet placed.
  std::priority_queue<TaskId, std::vector<TaskId>, std::greater<>> ready_;
  std::vector<TaskId> order_;
  std::vector<TaskId> closers_;
};

std::vector<Orderer::Hop> Orderer::FindCycle() const {
  std::vector<uint8_t> placed(graph_.tasks().size(), 0);
  for (const TaskId task : order_) {
    placed[task.value] = 1;
  }
  const auto not_placed = [&](TaskId task) { return placed[task.value] == 0; };
  TaskId task{};
  for (const TaskId id : graph_.tasks().ids()) {
    if (not_placed(id)) {
      task = id;
      break;
    }
  }
  // Each task that is not placed hangs on one that is not done; that one is
  // either not placed itself or in a rendezvous with one that is not. So the
  // walk goes on until it comes back to where it was.
  constexpr uint32_t kUnseen = UINT32_MAX;
  std::vector<uint32_t> seen_at(graph_.tasks().size(), kUnseen);
  std::vector<Hop> hops;
  while (seen_at[task.value] == kUnseen) {
    seen_at[task.value] = static_cast<uint32_t>(hops.size());
    const bool by_lane = cause_[task.value] == 0;
    hops.push_back(
        {.task = task, .verb = by_lane ? "runs after" : "waits for"});
    TaskId cause = CurrentCause(task);
    if (!not_placed(cause)) {
      hops.push_back({.task = cause, .verb = "is in a rendezvous with"});
      const auto members = graph_.members(graph_.tasks()[cause].rendezvous);
      cause = *std::ranges::find_if(members, not_placed);
    }
    task = cause;
  }
  hops.erase(hops.begin(), hops.begin() + seen_at[task.value]);
  return hops;
}

std::string Orderer::DescribeCycle(
    const std::function<std::string(TaskId)>& describe) const {
  // Enough for two ranks that swapped two collectives, twice over; a message
  // is one line.
  constexpr size_t kMostNamed = 8;
  const std::vector<Hop> hops = FindCycle();
  std::string text = "tasks form a dependency cycle: ";
  for (size_t i = 0; i < std::min(hops.size(), kMostNamed); ++i) {
    text += fmt::format("{}{} {} ", describe(hops[i].task),
                        i == 0 ? "" : ", which", hops[i].verb);
  }
  if (hops.size() > kMostNamed) {
    text += fmt::format("{}, and so on over {} more tasks, back to ",
                        describe(hops[kMostNamed].task),
                        hops.size() - kMostNamed - 1);
  }
  return text + describe(hops.front().task);
}

Result<TaskOrder> OrderTasks(
    const TaskGraph& graph,
    const std::function<std::string(TaskId)>& describe) {
  Orderer orderer(graph);
  if (!orderer.Run()) {
    return Fail(ErrorCode::kInvalidInput, orderer.DescribeCycle(describe));
  }
  return orderer.TakeOrder();
}

/// Turns how many each has, kept one place up, into where each begins.
void SumUp(std::vector<uint32_t>& counts) {
  for (size_t i = 1; i < counts.size(); ++i) {
    counts[i] += counts[i - 1];
  }
}

bool IsEarlierWait(const Dependency& a, const Dependency& b) {
  return std::tie(a.before, a.kind, a.delay) <
         std::tie(b.before, b.kind, b.delay);
}

}  // namespace

TaskGraph::TaskGraph() = default;
TaskGraph::TaskGraph(const TaskGraph& other) = default;
TaskGraph& TaskGraph::operator=(const TaskGraph& other) = default;
TaskGraph::TaskGraph(TaskGraph&& other) noexcept = default;
TaskGraph& TaskGraph::operator=(TaskGraph&& other) noexcept = default;
TaskGraph::~TaskGraph() = default;

void TaskGraph::LinkLanes() {
  previous_.resize(tasks_.size());
  std::vector<TaskId> last(lane_count_);
  for (const TaskId task : tasks_.ids()) {
    const Task& item = tasks_[task];
    CHECK(item.lane.value < lane_count_) << item.lane.value;
    CHECK(item.duration.count() >= 0) << item.duration.count();
    CHECK(item.gap.count() >= 0) << item.gap.count();
    CHECK(item.release.count() >= 0) << item.release.count();
    previous_[task.value] = std::exchange(last[item.lane.value], task);
  }
}

void TaskGraph::LinkWaits(const std::vector<Dependency>& dependencies) {
  CHECK(dependencies.size() < UINT32_MAX) << dependencies.size();
  first_wait_.assign(tasks_.size() + size_t{1}, 0);
  for (const Dependency& item : dependencies) {
    CHECK(item.before.value < tasks_.size()) << item.before.value;
    CHECK(item.after.value < tasks_.size()) << item.after.value;
    ++first_wait_[item.after.value + size_t{1}];
  }
  SumUp(first_wait_);
  std::vector<uint32_t> next(first_wait_.begin(), first_wait_.end() - 1);
  waits_.resize(dependencies.size());
  for (const Dependency& item : dependencies) {
    waits_[next[item.after.value]++] = item;
  }
  for (size_t i = 0; i < tasks_.size(); ++i) {
    if (first_wait_[i + 1] - first_wait_[i] > 1) {
      std::sort(waits_.begin() + first_wait_[i],
                waits_.begin() + first_wait_[i + 1], IsEarlierWait);
    }
  }
}

void TaskGraph::LinkRendezvous() {
  first_member_.assign(rendezvous_count_ + size_t{1}, 0);
  for (const Task& task : tasks_) {
    if (task.rendezvous.valid()) {
      CHECK(task.rendezvous.value < rendezvous_count_) << task.rendezvous.value;
      ++first_member_[task.rendezvous.value + size_t{1}];
    }
  }
  SumUp(first_member_);
  std::vector<uint32_t> next(first_member_.begin(), first_member_.end() - 1);
  members_.resize(first_member_.back());
  for (const TaskId task : tasks_.ids()) {
    const RendezvousId rendezvous = tasks_[task].rendezvous;
    if (rendezvous.valid()) {
      members_[next[rendezvous.value]++] = task;
    }
  }
}

void TaskGraphBuilder::Reserve(size_t tasks, size_t dependencies) {
  tasks_.reserve(tasks);
  dependencies_.reserve(dependencies);
}

Result<TaskGraph> TaskGraphBuilder::Build(
    const std::function<std::string(TaskId)>& describe) && {
  TaskGraph graph;
  graph.tasks_ = std::move(tasks_);
  graph.lane_count_ = lane_count_;
  graph.rendezvous_count_ = rendezvous_count_;
  graph.LinkLanes();
  graph.LinkWaits(dependencies_);
  graph.LinkRendezvous();
  ASSIGN_OR_RETURN(TaskOrder order, OrderTasks(graph, describe));
  graph.order_ = std::move(order.order);
  graph.closers_ = std::move(order.closers);
  return graph;
}

}  // namespace stepcast::sim
