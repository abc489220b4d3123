#include "report/step_number.h"

#include <vector>

#include <fmt/format.h>

#include "ingest/step_window.h"

namespace stepcast::report {

Result<std::optional<int64_t>> StepNumber(
    std::span<const ingest::RankTrace> ranks, std::optional<int64_t> wanted) {
  ASSIGN_OR_RETURN(const std::vector<uint32_t> steps,
                   ingest::ChooseStep(ranks, wanted));
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i].profiler) {
      return ranks[i].profiler->steps[steps[i]].number;
    }
  }
  if (wanted) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("step {} is not there: only profiler traces number "
                            "their steps",
                            *wanted));
  }
  return std::nullopt;
}

}  // namespace stepcast::report
