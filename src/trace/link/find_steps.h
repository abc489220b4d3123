// Finds the iterations in a linked trace.
#ifndef STEPCAST_TRACE_LINK_FIND_STEPS_H_
#define STEPCAST_TRACE_LINK_FIND_STEPS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "trace/classify/rules.h"
#include "trace/link/link.h"
#include "trace/read/load.h"

namespace stepcast::trace {

// Which step of a trace a graph is made of, and what belongs to it.

/// The step of each rank, as a position in the steps of its profiler trace or,
/// without one, of its execution trace (kNoEvent where none are marked): the
/// one with the given number, or without it the step whose longest rank is the
/// median of all steps every rank has. Steps without any op, and the first of
/// the recording, count only where there are no others. Lengths are times
/// between the ends of steps, with all that they launched; if no rank has a
/// profiler trace, numbers of ops.
Result<std::vector<uint32_t>> ChooseStep(std::span<const RankTrace> ranks,
                                         std::optional<int64_t> number);

/// By number, of steps that follow each other on every rank: from the end of
/// the step before to the end of this one, each with all that it launched, on
/// the rank where that is longest. Of profiler traces.
std::map<int64_t, Duration> StepDistances(std::span<const RankTrace> ranks);

/// The events of one step of one rank, as positions in the linked trace.
struct StepWindow {
  Step step;
  std::vector<uint32_t> host_events{};  // That start in it, in order.
  std::vector<uint32_t> calls{};        // That start in it, by start.
  /// Launched in it; and those that ran in it but were launched before
  /// (orphans and what the step before left over).
  std::vector<uint32_t> activities{};
};

StepWindow CutStep(const LinkedTrace& linked, const Step& step);

// The numbers of the steps that graphs are made of.

/// The step that BuildGraph takes from these ranks, given the same wish; none
/// if no rank has steps with numbers (then wishing for one is an error).
Result<std::optional<int64_t>> StepNumber(std::span<const RankTrace> ranks,
                                          std::optional<int64_t> wanted);

/// Those that every rank with numbered steps has, each once, in the order of
/// the first of these ranks.
std::vector<std::optional<int64_t>> CommonSteps(
    std::span<const RankTrace> ranks);

/// Fills linked.steps: the profiler's own step ranges; without them, the time
/// from the end of one optimizer range to the end of the next; without those,
/// the whole trace as one step.
void FindSteps(LinkedTrace& linked, const Rules& rules,
               Diagnostics& diagnostics);

/// The number in "ProfilerStep#12", or -1.
int64_t StepNumberIn(std::string_view name);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_LINK_FIND_STEPS_H_
