// A simulated step with all that is known of it.
#ifndef STEPCAST_ENGINE_EXPLAIN_STEP_RESULT_H_
#define STEPCAST_ENGINE_EXPLAIN_STEP_RESULT_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "engine/explain/account.h"
#include "engine/run/price_activities.h"
#include "ir/graph.h"
#include "sim/critical_path.h"
#include "sim/simulate.h"
#include "timeline/host_plan.h"
#include "timeline/lower.h"
#include "timeline/measured_times.h"
#include "timeline/predicted_plan.h"

namespace stepcast::engine {

struct StepInterval {
  Duration p10{};
  Duration p50{};
  Duration p90{};
};

/// Predicted, replayed from its own durations, or changed: what reads it need
/// not know which.
struct StepResult {
  std::shared_ptr<const ir::Graph> graph;
  PricedActivities
      activities;  // How long each activity takes, and who says so.
  timeline::HostPlan plan;
  timeline::OverheadCoverage
      overheads;  // Of the plan; empty where it is measured.
  /// Why each activity started when it did; empty unless all is as measured.
  IdVector<ir::ActivityId, timeline::StartCause> causes;
  timeline::Lowered lowered;
  sim::Schedule schedule;
  std::vector<StepSpan> spans;  // By rank, as the accounts.
  std::vector<RankAccount> accounts;
  Duration step{};  // Of the slowest rank.
  StepInterval interval{};
  std::vector<sim::PathStep> critical_path;

  /// The rank whose step takes longest; of several that end together the one
  /// that the others wait for, that is, which waits least.
  size_t slowest() const;
  /// Its account and its step; nothing where there are no ranks.
  RankAccount slowest_account() const {
    return accounts.empty() ? RankAccount{} : accounts[slowest()];
  }
  StepSpan slowest_span() const {
    return spans.empty() ? StepSpan{} : spans[slowest()];
  }
};

/// Fills in what follows from the schedule, given when each rank's step began
/// and ended: accounts, step time, an interval without width, and the critical
/// path. That leads to the end of the last of several repeats, or of the only
/// step of the rank that ends last.
void TakeSchedule(std::vector<StepSpan> spans, StepResult& result);

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_EXPLAIN_STEP_RESULT_H_
