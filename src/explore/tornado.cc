#include "explore/tornado.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "explore/evaluate.h"
#include "explore/row.h"

namespace stepcast::explore {
namespace {

// The conclusion with some settings replaced.
double Conclude(const Sensitivity& sensitivity,
                const std::vector<Setting>& replaced, Evaluator& evaluator) {
  const Number metric =
      FindNumber(sensitivity.metric).value_or(Number::kSamplesPerS);
  const auto value = [&](const std::vector<Setting>& settings) {
    return evaluator.Evaluate(Merge({&settings, &replaced})).at(metric);
  };
  const double of = value(sensitivity.of);
  return sensitivity.is_ratio ? of / value(sensitivity.against) : of;
}

double WidthOf(const TornadoBar& bar) {
  const double width = std::abs(bar.at_high - bar.at_low);
  // What cannot be told moves most.
  return std::isnan(width) ? HUGE_VAL : width;
}

}  // namespace

std::vector<Tornado> MakeTornados(
    const Study& study, const std::vector<std::filesystem::path>& profiles) {
  Evaluator evaluator({.profiles = profiles, .seed = study.seed});
  std::vector<Tornado> tornados;
  for (const Sensitivity& sensitivity : study.sensitivities) {
    Tornado tornado{.name = sensitivity.name,
                    .metric = sensitivity.metric,
                    .is_ratio = sensitivity.is_ratio,
                    .usual = Conclude(sensitivity, {}, evaluator)};
    for (const UncertainInput& input : sensitivity.inputs) {
      tornado.bars.push_back(
          {.setting = KindOf(input.low).Key(),
           .low = input.low.value.text,
           .high = input.high.value.text,
           .why = input.why,
           .at_low = Conclude(sensitivity, {input.low}, evaluator),
           .at_high = Conclude(sensitivity, {input.high}, evaluator)});
    }
    std::ranges::stable_sort(
        tornado.bars, [](double a, double b) { return a > b; }, WidthOf);
    tornados.push_back(std::move(tornado));
  }
  return tornados;
}

}  // namespace stepcast::explore
