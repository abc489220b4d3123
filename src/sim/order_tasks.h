// The order in which the tasks of a graph can run.
#ifndef STEPCAST_SIM_ORDER_TASKS_H_
#define STEPCAST_SIM_ORDER_TASKS_H_

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/task_graph.h"

namespace stepcast::sim {

struct TaskOrder {
  std::vector<TaskId> order;
  std::vector<TaskId> closers;  // By meeting: its last member in `order`.
};

/// What TaskGraph::order() and closer() promise, for a graph that has
/// everything else; an error if tasks wait for each other in a circle.
Result<TaskOrder> OrderTasks(
    const TaskGraph& graph, const std::function<std::string(TaskId)>& describe);

}  // namespace stepcast::sim

#endif  // STEPCAST_SIM_ORDER_TASKS_H_
