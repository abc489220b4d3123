#include "whatif/suggest.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "ir/shape.h"
#include "whatif/case.h"
#include "whatif/step_editor.h"

namespace stepcast::whatif {
namespace {

// Families whose kernels are tried at twice the speed.
constexpr size_t kFamilies = 3;
// Of the step; less does not count as a gain.
constexpr int64_t kLeastGain = 1000;

// Where more of the GPU time than this is scaled without knowing sizes, an
// interval that is narrow by chance says little; from the half on, nothing.
constexpr double kPartlyRough = 0.1;
constexpr double kMostlyRough = 0.5;

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

// The families that the slowest rank's device spends most on.
std::vector<std::string> LongestFamilies(const Case& subject) {
  const engine::StepResult& prediction = subject.result;
  if (prediction.accounts.empty()) {
    return {};
  }
  const auto& kernels = prediction.accounts[prediction.slowest()].kernels;
  std::vector<std::pair<Duration, std::string>> times;
  for (const ir::KernelShape& shape : subject.result.graph->data().shapes) {
    const std::string name(ir::FamilyName(shape));
    const Duration time = kernels[shape.index()];
    if (time > Duration{} &&
        std::ranges::find(times, std::pair(time, name)) == times.end()) {
      times.emplace_back(time, name);
    }
  }
  std::ranges::sort(times, std::greater<>());
  std::vector<std::string> names;
  for (size_t i = 0; i < times.size() && i < kFamilies; ++i) {
    names.push_back(times[i].second);
  }
  return names;
}

std::vector<std::string> ChangesToTry(const Case& subject) {
  std::vector<std::string> texts;
  for (const ChangeKind& kind : Changes()) {
    // Changes that only apply to models are not advice for a recorded step.
    if (!subject.job && kind.edit == nullptr) {
      continue;
    }
    for (const std::string& value : Words(kind.tries)) {
      texts.push_back(value == "-" ? std::string(kind.name)
                                   : fmt::format("{}={}", kind.name, value));
    }
  }
  for (const std::string& family : LongestFamilies(subject)) {
    texts.push_back(fmt::format("scale-op={}=0.5", family));
  }
  return texts;
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

Confidence ConfidenceOf(const Changed& changed) {
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

Suggestions Suggest(const Case& before, scenario::Resolver& resolver) {
  Suggestions suggestions;
  StepBatch batch(before);
  const auto gains = [&](Duration step) {
    return (before.result.step - step) * kLeastGain > before.result.step;
  };
  for (const std::string& text : ChangesToTry(before)) {
    const auto change = ParseChange(text);
    CHECK(change.has_value()) << change.error().message;
    // The step time alone is quick; what gains nothing needs no more.
    if (!OfRequest(before, *change)) {
      const auto step = batch.StepWith({&*change, 1}, resolver.store());
      if (!step || !gains(*step)) {
        suggestions.rejected.push_back(
            {text, step ? "no gain" : step.error().message});
        continue;
      }
    }
    auto changed = Apply(before, {&*change, 1}, resolver);
    if (!changed || !gains(changed->after.result.step)) {
      suggestions.rejected.push_back(
          {text, changed ? "no gain" : changed.error().message});
      continue;
    }
    const Confidence confidence = ConfidenceOf(*changed);
    suggestions.gains.push_back({.change = *change,
                                 .changed = *std::move(changed),
                                 .confidence = confidence});
  }
  std::ranges::stable_sort(suggestions.gains,
                           [](const Suggestion& a, const Suggestion& b) {
                             return a.changed.delta.step < b.changed.delta.step;
                           });
  return suggestions;
}

}  // namespace stepcast::whatif
