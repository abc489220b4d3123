// Which step of a trace a graph is made of, and what belongs to it.
#ifndef STEPCAST_INGEST_STEP_WINDOW_H_
#define STEPCAST_INGEST_STEP_WINDOW_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "ingest/link.h"
#include "ingest/load.h"

namespace stepcast::ingest {

/// The step of each rank, as a position in the steps of its profiler trace or,
/// without one, of its execution trace (kNoEvent where none are marked): the
/// one with the given number, or without it the step whose longest rank is the
/// median of all steps every rank has. Steps without any op count only where
/// there are no others. Lengths are times; if no rank has a profiler trace,
/// numbers of ops.
Result<std::vector<uint32_t>> ChooseStep(std::span<const RankTrace> ranks,
                                         std::optional<int64_t> number);

/// The events of one step of one rank, as positions in the linked trace.
struct StepWindow {
  Step step;
  std::vector<uint32_t> host_events{};  // That start in it, in order.
  std::vector<uint32_t> calls{};        // That start in it, by start.
  /// Launched in it; and those that ran in it but were launched before
  /// (orphans and what the step before left over).
  std::vector<uint32_t> works{};
};

StepWindow CutStep(const LinkedTrace& linked, const Step& step);

}  // namespace stepcast::ingest

#endif  // STEPCAST_INGEST_STEP_WINDOW_H_
