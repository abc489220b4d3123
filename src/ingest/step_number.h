// The numbers of the steps that graphs are made of.
#ifndef STEPCAST_INGEST_STEP_NUMBER_H_
#define STEPCAST_INGEST_STEP_NUMBER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "ingest/load.h"

namespace stepcast::ingest {

/// The step that BuildGraph takes from these ranks, given the same wish; none
/// if no rank has steps with numbers (then wishing for one is an error).
Result<std::optional<int64_t>> StepNumber(std::span<const RankTrace> ranks,
                                          std::optional<int64_t> wanted);

/// Those that every rank with numbered steps has, each once, in the order of
/// the first of these ranks.
std::vector<std::optional<int64_t>> CommonSteps(
    std::span<const RankTrace> ranks);

}  // namespace stepcast::ingest

#endif  // STEPCAST_INGEST_STEP_NUMBER_H_
