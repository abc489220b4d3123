#include "whatif/apply.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/step_result.h"
#include "scenario/resolve.h"
#include "sim/simulate.h"
#include "whatif/task_filler.h"

namespace stepcast::whatif {
namespace {

Status SetOne(const Change& change, scenario::Job& job) {
  const scenario::Setting* const setting = change.kind->setting;
  if (setting == nullptr) {
    return change.kind->set(change, job);
  }
  if (setting->IsFlag()) {
    RETURN_IF_ERROR(NoValue(change));
  } else if (change.value.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("change {} has no value; expected {}={}",
                            change.text, change.text, setting->value));
  }
  return Named(change, scenario::Change(*setting, change.value, job));
}

// Applies changes of the job. Returns whether there are any.
Result<bool> ChangeJob(const Case& before, std::span<const Change> changes,
                       scenario::Resolver& resolver,
                       std::optional<scenario::Job>& job) {
  bool any = false;
  for (const Change* const change : InOrder(changes)) {
    if (OfRequest(before, *change)) {
      RETURN_IF_ERROR(SetOne(*change, *job));
      any = true;
    }
  }
  if (!any) {
    return false;
  }
  const Status bound = resolver.Bind(*job);
  if (!bound) {
    job->request.machine = {};  // The one before the changes.
  }
  for (const Change& change : changes) {
    if (OfRequest(before, change) && change.kind->setting != nullptr) {
      RETURN_IF_ERROR(
          Named(change, scenario::CheckEffect(*change.kind->setting, *job)));
    }
  }
  RETURN_IF_ERROR(bound);
  return true;
}

// Runs the step again with its edited times.
void Resimulate(Case& edited) {
  engine::StepResult& result = edited.result;
  sim::SimulateWith(
      result.lowered.tasks,
      ToTaskTimes(result.graph->data(), result.lowered, edited.times),
      result.schedule);
  result.causes = {};
  engine::TakeSchedule(SpansOf(result.lowered, edited.times, result.schedule),
                       result);
}

// Prices and coverage as the edited times have them.
void TakePrices(Case& edited) {
  engine::PricedWorks& works = edited.result.works;
  works.coverage = {};
  double total = 0;
  for (const ir::WorkId id : edited.times.works.ids()) {
    const EditedWork& work = edited.times.works[id];
    constexpr double kMicrosecond = 1e3;
    const double us = work.dropped ? 0 : work.duration / kMicrosecond;
    works.prices[id] = {.p10_us = us * work.trust.low,
                        .p50_us = us,
                        .p90_us = us * work.trust.high,
                        .source = work.trust.source,
                        .model = works.prices[id].model};
    works.coverage[static_cast<size_t>(work.trust.source)] += us;
    total += us;
  }
  for (double& share : works.coverage) {
    share = total > 0 ? share / total : 0;
  }
}

}  // namespace

std::vector<const Change*> InOrder(std::span<const Change> changes) {
  std::vector<const Change*> order;
  for (const Change& change : changes) {
    order.push_back(&change);
  }
  std::ranges::stable_sort(
      order, {}, [](const Change* change) { return change->kind->last; });
  return order;
}

bool OfRequest(const Case& subject, const Change& change) {
  return subject.job.has_value() &&
         (change.kind->set != nullptr || change.kind->setting != nullptr) &&
         (change.kind->sets == nullptr || change.kind->sets(change));
}

Status CheckApplies(const Case& subject, const Change& change) {
  if (OfRequest(subject, change) || change.kind->edit != nullptr) {
    return {};
  }
  return Fail(ErrorCode::kUnsupported,
              fmt::format("change {} does not apply to a recorded step: {}",
                          change.kind->name, change.kind->why_not_steps));
}

Result<Changed> Apply(const Case& before, std::span<const Change> changes,
                      scenario::Resolver& resolver) {
  Changed changed;
  std::optional<scenario::Job> job = before.job;
  bool edits = false;
  for (const Change& change : changes) {
    RETURN_IF_ERROR(CheckApplies(before, change));
    edits = edits || !OfRequest(before, change);
  }
  ASSIGN_OR_RETURN(const bool asks_anew,
                   ChangeJob(before, changes, resolver, job));
  if (asks_anew) {
    ASSIGN_OR_RETURN(changed.after, CaseOfModel(*std::move(job), resolver));
  } else {
    changed.after = before;
  }
  if (!edits) {
    changed.delta = DeltaOf(before, changed.after);
    return changed;
  }
  Case& after = changed.after;
  const Case unedited = after;
  StepEditor editor(unedited.result, after.machine, resolver.store(),
                    after.times);
  for (const Change* const change : InOrder(changes)) {
    if (!OfRequest(before, *change)) {
      RETURN_IF_ERROR(change->kind->edit(*change, editor));
    }
  }
  changed.notes = editor.notes();
  changed.bound = editor.bound();
  after.times = std::move(editor.times());
  after.machine = editor.machine();
  Resimulate(after);
  TakePrices(after);
  const Delta edited = DeltaOf(unedited, after);
  after.result.interval = {
      .p10 = unedited.result.interval.p10 + edited.shift.p10,
      .p50 = unedited.result.interval.p50 + edited.shift.p50,
      .p90 = unedited.result.interval.p90 + edited.shift.p90};
  changed.delta = asks_anew ? DeltaOf(before, after) : edited;
  return changed;
}

}  // namespace stepcast::whatif
