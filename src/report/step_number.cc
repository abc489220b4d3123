#include "report/step_number.h"

#include <algorithm>
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

std::vector<std::optional<int64_t>> CommonSteps(
    std::span<const ingest::RankTrace> ranks) {
  std::vector<std::optional<int64_t>> common;
  bool first = true;
  for (const ingest::RankTrace& rank : ranks) {
    if (!rank.profiler) {
      continue;
    }
    const std::vector<ingest::Step>& steps = rank.profiler->steps;
    if (first) {
      for (const ingest::Step& step : steps) {
        if (std::ranges::find(common, step.number) == common.end()) {
          common.push_back(step.number);
        }
      }
    } else {
      std::erase_if(common, [&](const std::optional<int64_t>& number) {
        return std::ranges::find(steps, *number, &ingest::Step::number) ==
               steps.end();
      });
    }
    first = false;
  }
  return common;
}

}  // namespace stepcast::report
