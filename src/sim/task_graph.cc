// Links tasks to what they wait for, and has them ordered.
#include "sim/task_graph.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "sim/order_tasks.h"

namespace stepcast::sim {
namespace {

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

void TaskGraph::LinkMeetings() {
  first_member_.assign(meeting_count_ + size_t{1}, 0);
  for (const Task& task : tasks_) {
    if (task.meeting.valid()) {
      CHECK(task.meeting.value < meeting_count_) << task.meeting.value;
      ++first_member_[task.meeting.value + size_t{1}];
    }
  }
  SumUp(first_member_);
  std::vector<uint32_t> next(first_member_.begin(), first_member_.end() - 1);
  members_.resize(first_member_.back());
  for (const TaskId task : tasks_.ids()) {
    const MeetingId meeting = tasks_[task].meeting;
    if (meeting.valid()) {
      members_[next[meeting.value]++] = task;
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
  graph.meeting_count_ = meeting_count_;
  graph.LinkLanes();
  graph.LinkWaits(dependencies_);
  graph.LinkMeetings();
  ASSIGN_OR_RETURN(TaskOrder order, OrderTasks(graph, describe));
  graph.order_ = std::move(order.order);
  graph.closers_ = std::move(order.closers);
  return graph;
}

}  // namespace stepcast::sim
