#include "whatif/suggest.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "engine/run/predict_model.h"
#include "model/model.h"
#include "whatif/step_editor.h"
#include "whatif/tries.h"

namespace stepcast::whatif {
namespace {

// Of the step; less does not count as a gain.
constexpr int64_t kLeastGain = 1000;
constexpr std::string_view kNoGain = "no gain";

// Where more of the GPU time than this is scaled without knowing sizes, an
// interval that is narrow by chance says little; from the half on, nothing.
constexpr double kPartlyRough = 0.1;
constexpr double kMostlyRough = 0.5;

// Of changes that do nearly the same, the simpler one is enough if it gains so
// much of what the best gains.
constexpr double kAsGood = 0.95;

// Of the step; for less nobody buys other machines.
constexpr double kLeastOfGpu = 0.2;

// Pairs: of the best so many changes, shown at most so many, each with so much
// more of the step than the better of the two alone gains.
constexpr size_t kPairsOf = 5;
constexpr size_t kMostPairs = 3;
constexpr double kLeastMore = 0.01;
// With these, changes that gain nothing alone are tried, too: what they make
// faster may be what limits the step next.
constexpr size_t kPartnersOf = 2;

// Two ranks of a job on processors differ by up to 9 % of a step by chance, as
// the recorded ones do; what is within this share says nothing there, and may
// be chance on GPUs. Of two ranks none is the usual one.
constexpr double kChanceOfRanks = 0.15;
constexpr size_t kRanksForMedian = 3;

// A batch is tried with at most so many times its samples.
constexpr int64_t kMostTimes = 1024;

Duration GainOf(const Changed& changed) {
  return -changed.delta.step;
}

double ShareOf(Duration part, Duration whole) {
  return whole.count() == 0 ? 0
                            : static_cast<double>(part.count()) /
                                  static_cast<double>(whole.count());
}

bool IsGain(const Case& before, Duration gain) {
  return gain * kLeastGain > before.result.step;
}

Confidence ConfidenceOfInterval(const Changed& changed) {
  const Delta& delta = changed.delta;
  const double rough =
      RoughShare(changed.after.result.graph->data(), changed.after.times);
  if (delta.p90 >= Duration{} || rough > kMostlyRough) {
    return Confidence::kLow;
  }
  const bool narrow =
      delta.p90 * 2 <= delta.step && delta.p10 * 2 >= delta.step * 3;
  return narrow && !changed.bound && rough <= kPartlyRough
             ? Confidence::kHigh
             : Confidence::kMedium;
}

// Processors that talk to each other record collectives and nothing else.
bool HasKernels(const ir::GraphData& data) {
  return std::ranges::any_of(data.activities, [](const ir::Activity& activity) {
    return activity.kind != ir::ActivityKind::kCollective;
  });
}

// What is tried, and what has come of it.
class Search {
 public:
  Search(const Case& before, scenario::Resolver& resolver)
      : before_(before), resolver_(resolver), batch_(before) {}

  void TryOne(const Try& what);
  void TryBatch();
  void TryPlan();
  // Of one kind that do the same: the simplest that gains nearly the most.
  void LeaveOutTheSame();
  void TryPairs();
  Suggestions Take();

 private:
  bool OnlyEdits(std::span<const Change> changes) const {
    return std::ranges::none_of(changes, [&](const Change& change) {
      return OfRequest(before_, change);
    });
  }
  void Reject(std::string change, std::string why) {
    suggestions_.rejected.push_back({std::move(change), std::move(why)});
  }
  void SortGains();
  std::optional<int64_t> LargestBatch();
  bool Fits(int64_t batch);
  void KeepOneOf(std::string_view kind, bool general_last);
  void TryPair(const Change& first, const Change& second, Duration best);

  const Case& before_;
  scenario::Resolver& resolver_;
  StepBatch batch_;
  Suggestions suggestions_;
  std::vector<Change> partners_;  // Apply, and gain nothing alone.
};

void Search::TryOne(const Try& what) {
  if (!what.why_not.empty()) {
    Reject(what.change, what.why_not);
    return;
  }
  const auto change = ParseChange(what.change);
  CHECK(change.has_value()) << change.error().message;
  // The step time alone is quick; what gains nothing needs no more.
  if (!OfRequest(before_, *change)) {
    const auto step = batch_.StepWith({&*change, 1}, resolver_.store());
    if (!step || !IsGain(before_, before_.result.step - *step)) {
      if (step) {
        partners_.push_back(*change);
      }
      Reject(what.change, step ? std::string(kNoGain) : step.error().message);
      return;
    }
  }
  auto changed = Apply(before_, {&*change, 1}, resolver_);
  if (!changed || !IsGain(before_, GainOf(*changed))) {
    Reject(what.change,
           changed ? std::string(kNoGain) : changed.error().message);
    return;
  }
  const double share = ShareOf(GainOf(*changed), before_.result.step);
  if (change->kind->name == "gpu" && share < kLeastOfGpu) {
    Reject(what.change,
           fmt::format("gains {:.1f} %, little for another machine",
                       kPercent * share));
    return;
  }
  changed->bound = changed->bound || what.bound;
  Suggestion found{
      .change = *change, .changed = *std::move(changed), .action = {}};
  found.confidence = ConfidenceOf(before_, found.change, found.changed);
  found.action = ActionOf(before_, found.change, found.changed);
  suggestions_.gains.push_back(std::move(found));
}

bool Search::Fits(int64_t batch) {
  scenario::Job job = *before_.job;
  job.options.samples = 0;
  const scenario::Setting* const setting = scenario::FindSetting("batch");
  CHECK(setting != nullptr);
  if (!scenario::Change(*setting, std::to_string(batch), job) ||
      !resolver_.Bind(job) || !resolver_.Load(job.request.machine)) {
    return false;
  }
  const auto predicted = engine::PredictModel(job.request, job.options);
  return predicted && predicted->fits();
}

std::optional<int64_t> Search::LargestBatch() {
  if (!before_.job || before_.model == nullptr || !before_.machine.has_gpus() ||
      !before_.model->fits() || before_.model->batch < 1) {
    return std::nullopt;
  }
  const int64_t now = before_.model->batch;
  int64_t times = 1;
  while (times < kMostTimes && now * times * 2 <= model::kMostBatch &&
         Fits(now * times * 2)) {
    times *= 2;
  }
  return times > 1 ? std::optional(now * times) : std::nullopt;
}

void Search::TryBatch() {
  const std::optional<int64_t> most = LargestBatch();
  if (!most) {
    return;
  }
  const auto change = ParseChange(fmt::format("batch={}", *most));
  CHECK(change.has_value()) << change.error().message;
  auto changed = Apply(before_, {&*change, 1}, resolver_);
  if (!changed) {
    Reject(change->text, changed.error().message);
    return;
  }
  const int64_t times = *most / before_.model->batch;
  const engine::StepInterval& old = before_.result.interval;
  const engine::StepInterval& interval = changed->after.result.interval;
  changed->delta = {
      .step = changed->after.result.step / times - before_.result.step,
      .p10 = interval.p10 / times - old.p10,
      .p50 = interval.p50 / times - old.p50,
      .p90 = interval.p90 / times - old.p90,
      .shift = {}};
  if (changed->delta.p10 > changed->delta.p90) {
    std::swap(changed->delta.p10, changed->delta.p90);
  }
  if (!IsGain(before_, GainOf(*changed))) {
    Reject(change->text, std::string(kNoGain));
    return;
  }
  Suggestion found{.change = *change,
                   .changed = *std::move(changed),
                   .action = {},
                   .per_sample = true};
  found.confidence = ConfidenceOf(before_, found.change, found.changed);
  found.action = ActionOf(before_, found.change, found.changed);
  suggestions_.gains.push_back(std::move(found));
}

// What a plan that `stepcast plan` writes to the file would gain.
void Search::TryPlan() {
  std::optional<Resharded> resharded = TrySharding(before_, resolver_);
  if (!resharded) {
    return;
  }
  const auto change = ParseChange("reshard=plan.json");
  CHECK(change.has_value()) << change.error().message;
  if (!IsGain(before_, GainOf(resharded->changed))) {
    Reject(change->text, std::string(kNoGain));
    return;
  }
  Suggestion found{.change = *change,
                   .changed = std::move(resharded->changed),
                   .action = {}};
  found.confidence = ConfidenceOf(before_, found.change, found.changed);
  found.action = ActionOf(before_, found.change, found.changed);
  found.action.where = std::move(resharded->where);
  suggestions_.gains.push_back(std::move(found));
}

// With `general_last` only the last, which covers all others, may be left out.
void Search::KeepOneOf(std::string_view kind, bool general_last) {
  std::vector<Suggestion>& gains = suggestions_.gains;
  const auto is_of = [&](const Suggestion& item) {
    return item.change.kind->name == kind;
  };
  Duration most{};
  const Suggestion* kept = nullptr;
  for (const Suggestion& item : gains) {
    most = is_of(item) ? std::max(most, GainOf(item.changed)) : most;
  }
  for (const Suggestion& item : gains) {
    if (kept == nullptr && is_of(item) &&
        ShareOf(GainOf(item.changed), most) >= kAsGood) {
      kept = &item;
    }
  }
  if (kept == nullptr) {
    return;
  }
  const std::string name = kept->change.text;
  std::vector<Suggestion> left;
  for (Suggestion& item : gains) {
    const bool same = is_of(item) && item.change.text != name &&
                      (!general_last || item.change.value.empty());
    if (same) {
      Reject(item.change.text, fmt::format("gains no more than {}", name));
    } else {
      left.push_back(std::move(item));
    }
  }
  gains = std::move(left);
}

void Search::LeaveOutTheSame() {
  KeepOneOf("cuda-graphs", false);
  KeepOneOf("remove-sync", true);
  KeepOneOf("overlap-comm", true);
  SortGains();
}

void Search::SortGains() {
  std::ranges::stable_sort(
      suggestions_.gains, std::greater<>(),
      [](const Suggestion& item) { return GainOf(item.changed); });
}

void Search::TryPair(const Change& first, const Change& second, Duration best) {
  const Change changes[] = {first, second};
  const auto is_more = [&](Duration gain) {
    return ShareOf(gain - best, before_.result.step) >= kLeastMore;
  };
  if (OnlyEdits(changes)) {
    const auto step = batch_.StepWith(changes, resolver_.store());
    if (!step || !is_more(before_.result.step - *step)) {
      return;
    }
  }
  auto changed = Apply(before_, changes, resolver_);
  if (!changed || !is_more(GainOf(*changed))) {
    return;
  }
  const bool loads = std::ranges::any_of(changes, [](const Change& change) {
    return change.kind->name == "drop-op";
  });
  changed->bound = changed->bound || loads;
  Combination pair{.changes = {first, second}, .changed = *std::move(changed)};
  pair.confidence = std::max(ConfidenceOf(before_, first, pair.changed),
                             ConfidenceOf(before_, second, pair.changed));
  suggestions_.pairs.push_back(std::move(pair));
}

// Not with another GPU, which makes everything else less of a question, nor
// with another batch, whose gain is counted by the sample, nor with a plan
// that there is no file of yet.
void Search::TryPairs() {
  std::vector<const Suggestion*> best;
  for (const Suggestion& item : suggestions_.gains) {
    if (best.size() < kPairsOf && item.action.effort != Effort::kNone &&
        item.change.kind->name != "gpu" && item.change.kind->name != "plan" &&
        !item.per_sample) {
      best.push_back(&item);
    }
  }
  for (size_t i = 0; i < best.size(); ++i) {
    const Duration gain = GainOf(best[i]->changed);
    for (size_t j = i + 1; j < best.size(); ++j) {
      if (best[i]->change.kind != best[j]->change.kind) {
        TryPair(best[i]->change, best[j]->change, gain);
      }
    }
    for (const Change& partner : partners_) {
      if (i < kPartnersOf && partner.kind != best[i]->change.kind &&
          partner.kind->name != "gpu" && !partner.kind->hypothetical &&
          partner.kind->name != "scale-op") {
        TryPair(best[i]->change, partner, gain);
      }
    }
  }
  std::ranges::stable_sort(
      suggestions_.pairs, std::greater<>(),
      [](const Combination& item) { return GainOf(item.changed); });
  if (suggestions_.pairs.size() > kMostPairs) {
    suggestions_.pairs.resize(kMostPairs);
  }
}

Suggestions Search::Take() {
  const auto& tensors = before_.result.graph->data().tensors;
  if (before_.result.graph->is_timed() &&
      std::ranges::all_of(tensors, [](const ir::Tensor& tensor) {
        return tensor.dims.empty();
      })) {
    suggestions_.notes.emplace_back(
        "the recording has no shapes: with `record_shapes=True`, half "
        "precision, fused kernels and smaller collectives could be tried");
  }
  return std::move(suggestions_);
}

}  // namespace

std::string_view Name(Confidence confidence) {
  switch (confidence) {
    case Confidence::kHigh:
      return "high";
    case Confidence::kMedium:
      return "medium";
    case Confidence::kLow:
      break;
  }
  return "low";
}

Confidence ConfidenceOf(const Case& before, const Change& change,
                        const Changed& changed) {
  Confidence sure = ConfidenceOfInterval(changed);
  if (!before.result.graph->is_timed()) {
    return sure;
  }
  const Duration gain = GainOf(changed);
  const Duration spread = before.result.step - before.result.interval.p10;
  if (change.kind->name == "remove-straggler") {
    const ir::GraphData& data = before.result.graph->data();
    const bool by_chance = ShareOf(gain, before.result.step) < kChanceOfRanks;
    if (data.ranks.size() < kRanksForMedian || gain < spread ||
        (by_chance && !HasKernels(data))) {
      return Confidence::kLow;
    }
    sure = by_chance ? std::max(sure, Confidence::kMedium) : sure;
  }
  if (gain < spread) {
    sure = std::max(sure, Confidence::kMedium);
  }
  return sure;
}

Suggestions Suggest(const Case& before, scenario::Resolver& resolver,
                    bool hypothetical) {
  Search search(before, resolver);
  for (const Try& what : ChangesToTry(before, hypothetical)) {
    search.TryOne(what);
  }
  search.TryBatch();
  search.TryPlan();
  search.LeaveOutTheSame();
  search.TryPairs();
  return search.Take();
}

}  // namespace stepcast::whatif
