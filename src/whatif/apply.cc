#include "whatif/apply.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/rng.h"
#include "base/stats.h"
#include "base/text/string_pool.h"
#include "engine/explain/step_result.h"
#include "ir/shape.h"
#include "scenario/resolve.h"
#include "sim/simulate.h"
#include "whatif/task_filler.h"

namespace stepcast::whatif {
namespace {

using timeline::TaskOrigin;

// As in engine/run/predict.cc: of the variance of a model's error, the part
// that all its activities share; how many deviations p10 and p90 are off.
constexpr double kShared = 0.5;
constexpr double kDecile = 1.2816;
// Tasks that may be simulated for one interval: half a second's worth.
constexpr size_t kMostTasks = 4'000'000;
constexpr uint32_t kLeastSamples = 11;

// Nearly normal, from what it is drawn for alone: the same for both steps.
double NormalOf(uint64_t seed, uint64_t sample, uint64_t what) {
  constexpr int kUniforms = 12;
  constexpr double kScale = 0x1p-53;
  Rng rng(seed ^ (sample * 0x9e3779b97f4a7c15) ^ what);
  rng.Next();
  double sum = 0;
  for (int i = 0; i < kUniforms; ++i) {
    sum += static_cast<double>(rng.Next() >> 11) * kScale;
  }
  return sum - kUniforms / 2.0;
}

// One of the two steps.
class Side {
 public:
  explicit Side(const Case& drawn)
      : case_(drawn),
        base_(ToTaskTimes(drawn.result.graph->data(), drawn.result.lowered,
                          drawn.times)),
        times_(base_) {
    for (const std::string& model : drawn.times.models) {
      // Models of different GPUs are off in their own ways. Those of another
      // GPU than the step's first have its name in theirs.
      models_.push_back(
          HashBytes(model + "@" + drawn.times.origin->machine.gpu));
    }
    for (const ir::KernelShape& shape : drawn.result.graph->data().shapes) {
      shapes_.push_back(HashBytes(ir::ShapeText(shape)));
    }
    for (const EditedActivity& activity : drawn.times.activities) {
      certain_ =
          certain_ && activity.trust.low == 1 && activity.trust.high == 1;
    }
    certain_ = certain_ && drawn.options.host_spread == 0;
  }

  bool certain() const { return certain_; }
  size_t tasks() const { return base_.durations.size(); }
  double Step(uint64_t seed, uint64_t sample);

 private:
  double ActivityFactor(ir::ActivityId id) const;

  const Case& case_;
  const sim::TaskTimes base_;
  sim::TaskTimes times_;
  sim::Schedule schedule_;
  std::vector<uint64_t> models_;
  std::vector<uint64_t> shapes_;
  std::vector<double> of_model_;
  std::vector<double> of_shape_;
  std::vector<double> of_activity_;
  bool certain_ = true;
};

double Side::ActivityFactor(ir::ActivityId id) const {
  const Trust& trust = case_.times.activities[id].trust;
  if (trust.low == 1 && trust.high == 1) {
    return 1;
  }
  const double z =
      std::sqrt(kShared) * of_model_[trust.model] +
      std::sqrt(1 - kShared) *
          of_shape_[case_.result.graph->data().activities[id].shape.value];
  return std::pow(z < 0 ? trust.low : trust.high, std::abs(z) / kDecile);
}

double Side::Step(uint64_t seed, uint64_t sample) {
  constexpr uint64_t kHost = 1;
  constexpr uint64_t kSystem = 2;
  of_model_.clear();
  for (const uint64_t what : models_) {
    of_model_.push_back(NormalOf(seed, sample, what));
  }
  of_shape_.clear();
  for (const uint64_t what : shapes_) {
    of_shape_.push_back(NormalOf(seed, sample, what));
  }
  const double host =
      std::exp(case_.options.host_spread * NormalOf(seed, sample, kHost));
  const timeline::Lowered& lowered = case_.result.lowered;
  // Once for all repeats.
  of_activity_.clear();
  for (const ir::ActivityId id : case_.times.activities.ids()) {
    of_activity_.push_back(ActivityFactor(id));
  }
  for (const sim::TaskId task : lowered.origins.ids()) {
    const TaskOrigin& origin = lowered.origins[task];
    const double factor = origin.kind == TaskOrigin::Kind::kActivity
                              ? of_activity_[origin.activity.value]
                              : host;
    times_.durations[task.value] = Duration(std::llround(
        static_cast<double>(base_.durations[task.value].count()) * factor));
  }
  sim::SimulateWith(lowered.tasks, times_, schedule_);
  const Duration step = LongestOf(SpansOf(lowered, case_.times, schedule_));
  return static_cast<double>(step.count()) *
         std::exp(case_.options.system_spread *
                  NormalOf(seed, sample, kSystem));
}

// As many as were asked for, or as there is time for.
uint32_t SamplesOf(const Case& subject, size_t tasks) {
  const size_t most = kMostTasks / std::max(tasks, size_t{1});
  return std::min(subject.options.samples,
                  std::max(static_cast<uint32_t>(most), kLeastSamples));
}

Duration QuantileOf(const std::vector<double>& values, double share) {
  return Duration(std::llround(Quantile(values, share)));
}

}  // namespace

engine::StepInterval IntervalOf(const Case& subject) {
  const Duration step = subject.result.step;
  Side side(subject);
  if (subject.options.samples == 0 || side.certain()) {
    return {.p10 = step, .p50 = step, .p90 = step};
  }
  std::vector<double> steps;
  for (uint32_t i = 0; i < SamplesOf(subject, side.tasks()); ++i) {
    steps.push_back(side.Step(subject.options.seed, i));
  }
  return {.p10 = QuantileOf(steps, 0.1),
          .p50 = QuantileOf(steps, 0.5),
          .p90 = QuantileOf(steps, 0.9)};
}

Delta DeltaOf(const Case& before, const Case& after) {
  const Duration step = after.result.step - before.result.step;
  Delta delta{.step = step,
              .p10 = step,
              .p50 = step,
              .p90 = step,
              .shift = {.p10 = step, .p50 = step, .p90 = step}};
  Side first(before);
  Side second(after);
  if (before.options.samples == 0 || (first.certain() && second.certain())) {
    return delta;
  }
  const uint32_t samples = SamplesOf(before, first.tasks() + second.tasks());
  std::vector<double> befores;
  std::vector<double> afters;
  std::vector<double> deltas;
  for (uint32_t i = 0; i < samples; ++i) {
    befores.push_back(i > 0 && first.certain()
                          ? befores.front()
                          : first.Step(before.options.seed, i));
    afters.push_back(second.Step(before.options.seed, i));
    deltas.push_back(afters.back() - befores.back());
  }
  const auto shift = [&](double share) {
    return QuantileOf(afters, share) - QuantileOf(befores, share);
  };
  delta.p10 = QuantileOf(deltas, 0.1);
  delta.p50 = QuantileOf(deltas, 0.5);
  delta.p90 = QuantileOf(deltas, 0.9);
  delta.shift = {.p10 = shift(0.1), .p50 = shift(0.5), .p90 = shift(0.9)};
  return delta;
}

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
  engine::PricedActivities& activities = edited.result.activities;
  activities.coverage = {};
  double total = 0;
  for (const ir::ActivityId id : edited.times.activities.ids()) {
    const EditedActivity& activity = edited.times.activities[id];
    constexpr double kMicrosecond = 1e3;
    const double us = activity.dropped ? 0 : activity.duration / kMicrosecond;
    activities.prices[id] = {.p10_us = us * activity.trust.low,
                             .p50_us = us,
                             .p90_us = us * activity.trust.high,
                             .source = activity.trust.source,
                             .model = activities.prices[id].model};
    activities.coverage[static_cast<size_t>(activity.trust.source)] += us;
    total += us;
  }
  for (double& share : activities.coverage) {
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
