#include "engine/explain/step_result.h"

#include <algorithm>
#include <utility>

namespace stepcast::engine {
namespace {

std::vector<sim::PathStep> FindPath(const timeline::Lowered& lowered,
                                    const sim::Schedule& schedule) {
  if (lowered.rank_ends.size() > 1) {
    return sim::CriticalPath(lowered.tasks, schedule);
  }
  sim::TaskId last{};
  for (const sim::TaskId end : lowered.rank_ends.back()) {
    if (end.valid() && (!last.valid() || schedule.placements[end].end >
                                             schedule.placements[last].end)) {
      last = end;
    }
  }
  return sim::PathTo(lowered.tasks, schedule, last);
}

}  // namespace

size_t StepResult::slowest() const {
  // Ranks that meet in collectives end within this share of each other.
  constexpr int64_t kTogether = 200;
  Duration longest{};
  for (const RankAccount& account : accounts) {
    longest = std::max(longest, account.step);
  }
  size_t found = 0;
  bool any = false;
  for (size_t i = 0; i < accounts.size(); ++i) {
    const RankAccount& account = accounts[i];
    if ((longest - account.step) * kTogether > longest) {
      continue;
    }
    if (!any || account.collective_wait < accounts[found].collective_wait) {
      found = i;
      any = true;
    }
  }
  return found;
}

void TakeSchedule(std::vector<StepSpan> spans, StepResult& result) {
  result.spans = std::move(spans);
  std::vector<RankAccount> accounts =
      MakeAccounts(result.graph->data(), result.plan, result.lowered,
                   result.schedule, result.spans);
  for (size_t i = 0; i < std::min(accounts.size(), result.accounts.size());
       ++i) {
    accounts[i].alike = result.accounts[i].alike;
  }
  result.accounts = std::move(accounts);
  result.step = LongestOf(result.spans);
  result.interval = {result.step, result.step, result.step};
  result.critical_path = FindPath(result.lowered, result.schedule);
}

}  // namespace stepcast::engine
