#include "whatif/apply.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/account.h"
#include "plan/load_deal.h"
#include "scenario/resolve.h"
#include "sim/critical_path.h"
#include "whatif/task_filler.h"

namespace stepcast::whatif {
namespace {

Status SetOne(const Change& change, engine::Request& request) {
  const scenario::Setting* const setting = change.kind->setting;
  if (setting == nullptr) {
    return change.kind->set(change, request);
  }
  if (setting->IsFlag()) {
    RETURN_IF_ERROR(NoValue(change));
  } else if (change.value.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("change {} has no value; expected {}={}",
                            change.text, change.text, setting->value));
  }
  return Named(change, scenario::Change(*setting, change.value, request));
}

// Applies changes of the request. Returns whether there are any.
Result<bool> SetRequest(const Case& before, std::span<const Change> changes,
                        std::optional<engine::Request>& request) {
  bool any = false;
  for (const Change* const change : InOrder(changes)) {
    if (OfRequest(before, *change)) {
      RETURN_IF_ERROR(SetOne(*change, *request));
      any = true;
    }
  }
  for (const Change& change : changes) {
    if (OfRequest(before, change) && change.kind->setting != nullptr) {
      RETURN_IF_ERROR(Named(
          change, scenario::CheckEffect(*change.kind->setting, *request)));
    }
  }
  // A plan tells of the tables and ranks that it was read for.
  if (any && !request->plan.empty()) {
    RETURN_IF_ERROR(plan::LoadDeal(request->plan, *request));
  }
  return any;
}

// What the account of a step counts from, after edits.
void Resimulate(Case& edited) {
  engine::Prediction& prediction = edited.prediction;
  const lower::Lowered& lowered = prediction.lowered;
  const ir::GraphData& data = edited.graph->data();
  sim::SimulateWith(lowered.tasks, ToTaskTimes(data, lowered, edited.times),
                    prediction.schedule);
  prediction.spans = SpansOf(lowered, edited.times, prediction.schedule);
  auto accounts = engine::MakeAccounts(data, prediction.plan, lowered,
                                       prediction.schedule, prediction.spans);
  for (size_t i = 0; i < std::min(accounts.size(), prediction.accounts.size());
       ++i) {
    accounts[i].alike = prediction.accounts[i].alike;
  }
  prediction.accounts = std::move(accounts);
  prediction.step = LongestOf(prediction.spans);
}

void FindPath(Case& edited) {
  engine::Prediction& prediction = edited.prediction;
  const lower::Lowered& lowered = prediction.lowered;
  if (lowered.rank_ends.size() > 1) {
    prediction.critical_path =
        sim::CriticalPath(lowered.tasks, prediction.schedule);
    return;
  }
  sim::TaskId last{};
  for (const sim::TaskId end : lowered.rank_ends.back()) {
    if (end.valid() &&
        (!last.valid() || prediction.schedule.placements[end].end >
                              prediction.schedule.placements[last].end)) {
      last = end;
    }
  }
  prediction.critical_path =
      sim::PathTo(lowered.tasks, prediction.schedule, last);
}

// Prices and coverage as the edited times have them.
void TakePrices(Case& edited) {
  engine::PricedWorks& works = edited.prediction.works;
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
  return subject.request.has_value() &&
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
                      engine::Predictor& predictor) {
  Changed changed;
  std::optional<engine::Request> request = before.request;
  bool edits = false;
  for (const Change& change : changes) {
    RETURN_IF_ERROR(CheckApplies(before, change));
    edits = edits || !OfRequest(before, change);
  }
  ASSIGN_OR_RETURN(const bool asks_anew, SetRequest(before, changes, request));
  if (asks_anew) {
    ASSIGN_OR_RETURN(changed.after,
                     CaseOfModel(*request, before.options, predictor));
  } else {
    changed.after = before;
  }
  if (!edits) {
    changed.delta = DeltaOf(before, changed.after);
    return changed;
  }
  Case& after = changed.after;
  const Case unedited = after;
  StepEditor editor(*after.graph, unedited.prediction, after.place, predictor,
                    after.times);
  for (const Change* const change : InOrder(changes)) {
    if (!OfRequest(before, *change)) {
      RETURN_IF_ERROR(change->kind->edit(*change, editor));
    }
  }
  changed.notes = editor.notes();
  changed.bound = editor.bound();
  after.times = std::move(editor.times());
  after.place = editor.place();
  Resimulate(after);
  FindPath(after);
  TakePrices(after);
  const Delta edited = DeltaOf(unedited, after);
  after.prediction.interval = {
      .p10 = unedited.prediction.interval.p10 + edited.shift.p10,
      .p50 = unedited.prediction.interval.p50 + edited.shift.p50,
      .p90 = unedited.prediction.interval.p90 + edited.shift.p90};
  changed.delta = asks_anew ? DeltaOf(before, after) : edited;
  return changed;
}

}  // namespace stepcast::whatif
