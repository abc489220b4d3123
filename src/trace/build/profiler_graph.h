// Puts one rank's step of a profiler trace into a graph.
#ifndef STEPCAST_TRACE_BUILD_PROFILER_GRAPH_H_
#define STEPCAST_TRACE_BUILD_PROFILER_GRAPH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "ir/graph_builder.h"
#include "ir/shape.h"
#include "trace/build/find_waits.h"
#include "trace/build/host_collectives.h"
#include "trace/classify/classify_all.h"
#include "trace/classify/rules.h"
#include "trace/link/find_steps.h"
#include "trace/read/arguments.h"
#include "trace/read/execution_trace.h"
#include "trace/read/load.h"

namespace stepcast::trace {

// Execution traces of a processor that runs the operators itself: what PyTorch
// records where no tensor is on a device.

/// Whether tensors are on the host and nowhere else.
bool IsHostOnly(const ExecutionTrace& trace);

/// Of the ops that do work themselves, leaves those with none of them around:
/// a processor's operators are timed with all that they call.
///
///   aten::addmm    stays
///     aten::copy_  of the bias, is part of it
void KeepOutermost(const ExecutionTrace& trace, std::vector<bool>& launches);

/// The arguments as they would be on a device: the processor stands for one.
Arguments OnDevice(Arguments arguments);

/// What add_ of a sparse gradient does to a table, from the values that it
/// takes of the gradient. Nothing for any other op.
std::optional<ir::Index> SparseUpdate(const ExecutionTrace& trace,
                                      uint32_t node);

/// An activity of a collective, in the order the rank launched them.
struct LaunchedCollective {
  ir::ActivityId activity{};
  ir::Collective shape{};
};

/// What the graph got from one rank.
struct AddedRank {
  ir::RankId rank{};
  std::vector<LaunchedCollective> collectives;
};

// Where in Python's code each host event is from, where stacks were recorded.

struct PythonPlace {
  uint32_t modules = 0;  // Into PythonPlaces::texts: "DLRM_0/Linear_1".
  uint32_t site = 0;     // "train.py(12): step"
};

struct PythonPlaces {
  std::vector<std::string> texts{""};  // Distinct; the first is of none.
  /// By host event; empty where no stack was recorded.
  std::vector<PythonPlace> of_events{};
};

/// By the functions that ran on the event's thread when it started.
///
///   train.py(12): step
///     DLRM_0
///       dlrm.py(70): forward
///         Linear_1
///           aten::linear         DLRM_0/Linear_1, dlrm.py(70): forward
PythonPlaces FindPythonPlaces(const LinkedTrace& linked);

/// What all steps of a profiler trace share: found once, used for each of them.
struct ProfilerFacts {
  std::vector<ir::Phase> phases;  // By host event.
  std::vector<bool> autograd;     // By thread.
  SyncFacts syncs;
  PythonPlaces places;
  Classification shapes;
  HostCollectives host_collectives;
};
ProfilerFacts ReadFacts(const RankTrace& rank, const Rules& rules);

/// A step, and the earliest start of it over all ranks on the epoch's clock.
struct PlacedStep {
  const Step& step;
  Duration zero{};
};

AddedRank AddProfilerRank(const RankTrace& rank, const PlacedStep& placed,
                          const Rules& rules, const ProfilerFacts& facts,
                          ir::GraphBuilder& builder, Diagnostics& diagnostics);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_BUILD_PROFILER_GRAPH_H_
