#include "ingest/step_number.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "ingest/step_window.h"

namespace stepcast::ingest {
namespace {

// The numbers of a rank's steps, in their order.
std::vector<int64_t> NumbersOf(const RankTrace& rank) {
  std::vector<int64_t> numbers;
  if (rank.profiler) {
    for (const Step& step : rank.profiler->steps) {
      numbers.push_back(step.number);
    }
  } else if (rank.execution) {
    for (const ExecutionStep& step : rank.execution->steps) {
      numbers.push_back(step.number);
    }
  }
  return numbers;
}

}  // namespace

Result<std::optional<int64_t>> StepNumber(std::span<const RankTrace> ranks,
                                          std::optional<int64_t> wanted) {
  ASSIGN_OR_RETURN(const std::vector<uint32_t> steps,
                   ChooseStep(ranks, wanted));
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (steps[i] != kNoEvent) {
      return NumbersOf(ranks[i])[steps[i]];
    }
  }
  if (wanted) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("step {} is not there: no trace numbers its steps",
                            *wanted));
  }
  return std::nullopt;
}

std::vector<std::optional<int64_t>> CommonSteps(
    std::span<const RankTrace> ranks) {
  std::vector<std::vector<int64_t>> numbered;  // Of ranks that have some.
  for (const RankTrace& rank : ranks) {
    numbered.push_back(NumbersOf(rank));
  }
  std::erase_if(numbered, [](const auto& numbers) { return numbers.empty(); });
  std::vector<std::optional<int64_t>> common;
  const std::vector<int64_t> first =
      numbered.empty() ? std::vector<int64_t>() : numbered.front();
  for (const int64_t number : first) {
    const bool everywhere =
        std::ranges::all_of(numbered, [&](const auto& numbers) {
          return std::ranges::find(numbers, number) != numbers.end();
        });
    if (everywhere && std::ranges::find(common, number) == common.end()) {
      common.emplace_back(number);
    }
  }
  return common;
}

}  // namespace stepcast::ingest
