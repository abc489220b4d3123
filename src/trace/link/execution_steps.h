// Which nodes of an execution trace make up one step, and in which order the
// host came to them.
#ifndef STEPCAST_TRACE_LINK_EXECUTION_STEPS_H_
#define STEPCAST_TRACE_LINK_EXECUTION_STEPS_H_

#include <cstdint>
#include <vector>

#include "trace/classify/rules.h"
#include "trace/read/execution_trace.h"

namespace stepcast::trace {

/// The steps that the profiler's ranges mark and that hold an operator, in
/// their order. Recorders count ranges and operators of all threads with one
/// counter: a step goes from its range to the next one. A trace with one such
/// step is that step as a whole; one without any mark has none.
std::vector<ExecutionStep> FindExecutionSteps(const ExecutionTrace& trace,
                                              const Rules& rules);

/// By node: whether it is part of the step. Device work belongs to the step of
/// the op that launched it.
std::vector<bool> NodesOf(const ExecutionTrace& trace,
                          const ExecutionStep& step);

/// All nodes in the order of their start over all threads, device work where
/// the op is that launched it. Nodes without a record id stay after the one
/// before them.
std::vector<uint32_t> OrderOfStart(const ExecutionTrace& trace);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_LINK_EXECUTION_STEPS_H_
