#include "whatif/step_times.h"

#include <algorithm>
#include <utility>

namespace stepcast::whatif {
namespace {

using timeline::TaskOrigin;

double Nanoseconds(Duration time) {
  return static_cast<double>(time.count());
}

void TakeActivities(const engine::StepResult& result, StepTimes& times) {
  const ir::GraphData& data = result.graph->data();
  const timeline::Lowered& lowered = result.lowered;
  times.activities =
      IdVector<ir::ActivityId, EditedActivity>(data.activities.size());
  for (const std::string_view model : result.activities.models) {
    times.models.emplace_back(model);
  }
  for (const ir::ActivityId id : data.activities.ids()) {
    const engine::ActivityPrice& price = result.activities.prices[id];
    EditedActivity& activity = times.activities[id];
    activity.shape = data.activities[id].shape;
    activity.trust.model = price.model;
    activity.trust.source = price.source;
    if (price.p50_us > 0 && price.p10_us > 0) {
      activity.trust.low = price.p10_us / price.p50_us;
      activity.trust.high = price.p90_us / price.p50_us;
    }
  }
  for (const sim::TaskId task : lowered.origins.ids()) {
    const TaskOrigin& origin = lowered.origins[task];
    if (origin.kind != TaskOrigin::Kind::kActivity) {
      continue;
    }
    EditedActivity& activity = times.activities[origin.activity];
    activity.duration = Nanoseconds(lowered.tasks.tasks()[task].duration);
    activity.gap = Nanoseconds(lowered.tasks.tasks()[task].gap);
    for (const sim::Dependency& wait : lowered.tasks.waits(task)) {
      if (static_cast<timeline::Wait>(wait.kind) == timeline::Wait::kLaunch) {
        activity.launch = Nanoseconds(wait.delay);
      }
    }
  }
}

}  // namespace

StepTimes TimesOf(const engine::StepResult& result, engine::Machine machine) {
  const ir::GraphData& data = result.graph->data();
  StepTimes times;
  TakeActivities(result, times);
  times.segments =
      IdVector<ir::ThreadId, std::vector<EditedSegment>>(data.threads.size());
  for (const ir::ThreadId thread : data.threads.ids()) {
    for (const timeline::HostSegment& segment : result.plan.threads[thread]) {
      times.segments[thread].push_back(
          {.duration = Nanoseconds(segment.duration),
           .tail = Nanoseconds(segment.tail)});
    }
  }
  times.rank_starts = result.lowered.rank_starts;
  auto origin = std::make_shared<StepOrigin>();
  origin->machine = std::move(machine);
  origin->trusts.reserve(times.activities.size());
  for (const EditedActivity& activity : times.activities) {
    origin->trusts.push_back(activity.trust);
  }
  times.origin = std::move(origin);
  return times;
}

uint16_t NumberOf(std::string_view model, StepTimes& times) {
  const auto found = std::ranges::find(times.models, model);
  if (found == times.models.end()) {
    times.models.emplace_back(model);
    return static_cast<uint16_t>(times.models.size() - 1);
  }
  return static_cast<uint16_t>(found - times.models.begin());
}

std::vector<engine::StepSpan> SpansOf(const timeline::Lowered& lowered,
                                      const StepTimes& times,
                                      const sim::Schedule& schedule) {
  if (lowered.rank_ends.size() > 1) {
    return engine::SpansOf(lowered, schedule);
  }
  std::vector<engine::StepSpan> spans = engine::SingleSpans(lowered, schedule);
  for (const ir::RankId rank : times.rank_starts.ids()) {
    engine::StepSpan& span = spans[rank.value];
    span.begin = times.rank_starts[rank];
    span.end = std::max(span.end, span.begin);
  }
  return spans;
}

}  // namespace stepcast::whatif
