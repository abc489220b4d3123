#include "engine/step_interval.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "base/stats.h"
#include "lower/lower.h"
#include "sim/simulate.h"

namespace stepcast::engine {
namespace {

using lower::TaskOrigin;

// Of the variance of a model's error, the part that all its works share. A
// model is off in the same direction for neighbouring shapes, and a step's
// shapes are neighbours; half and half is the choice without data on steps.
constexpr double kShared = 0.5;
// The tenth percentile of a normal distribution lies so many deviations off.
constexpr double kDecile = 1.2816;

// Nearly normal: twelve uniform numbers have a variance of one. The same on
// every machine.
double Normal(Rng& rng) {
  constexpr int kUniforms = 12;
  constexpr double kScale = 0x1p-53;
  double sum = 0;
  for (int i = 0; i < kUniforms; ++i) {
    sum += static_cast<double>(rng.Next() >> 11) * kScale;
  }
  return sum - kUniforms / 2.0;
}

// What a time is multiplied with when its error is `z` deviations.
double FactorOf(const WorkPrice& price, double z) {
  if (price.p50_us <= 0) {
    return 1;
  }
  const double edge = z < 0 ? price.p10_us : price.p90_us;
  return edge <= 0 ? 1 : std::pow(edge / price.p50_us, std::abs(z) / kDecile);
}

class Sampler {
 public:
  Sampler(const ir::GraphData& data, const Prediction& prediction,
          const PredictOptions& options)
      : data_(data),
        prediction_(prediction),
        options_(options),
        rng_(options.seed) {}

  StepInterval Sample();

 private:
  void Draw(std::vector<Duration>& durations);
  Duration StepOf(const sim::Schedule& schedule) const;

  const ir::GraphData& data_;
  const Prediction& prediction_;
  const PredictOptions& options_;
  Rng rng_;
};

// Draws the duration of every task.
void Sampler::Draw(std::vector<Duration>& durations) {
  const lower::Lowered& lowered = prediction_.lowered;
  std::vector<double> of_model(prediction_.works.models.size());
  for (double& z : of_model) {
    z = Normal(rng_);
  }
  std::vector<double> of_shape(data_.shapes.size());
  for (double& z : of_shape) {
    z = Normal(rng_);
  }
  const double host = std::exp(options_.host_spread * Normal(rng_));
  const auto& tasks = lowered.tasks.tasks().items();
  for (size_t i = 0; i < durations.size(); ++i) {
    const TaskOrigin& origin =
        lowered.origins[sim::TaskId{static_cast<uint32_t>(i)}];
    double factor = host;
    if (origin.kind == TaskOrigin::Kind::kWork) {
      const WorkPrice& price = prediction_.works.prices[origin.work];
      const double z = std::sqrt(kShared) * of_model[price.model] +
                       std::sqrt(1 - kShared) *
                           of_shape[data_.works[origin.work].shape.value];
      factor = FactorOf(price, z);
    }
    durations[i] = Duration(
        std::llround(static_cast<double>(tasks[i].duration.count()) * factor));
  }
}

Duration Sampler::StepOf(const sim::Schedule& schedule) const {
  Duration step{};
  const auto spans = options_.repeats > 1
                         ? LastSpans(prediction_.lowered, schedule)
                         : SingleSpans(prediction_.lowered, schedule);
  for (const StepSpan& span : spans) {
    step = std::max(step, span.end - span.begin);
  }
  return step;
}

StepInterval Sampler::Sample() {
  std::vector<Duration> durations(prediction_.lowered.tasks.tasks().size());
  sim::Schedule schedule;
  std::vector<double> steps;
  for (uint32_t i = 0; i < options_.samples; ++i) {
    Draw(durations);
    sim::Resimulate(prediction_.lowered.tasks, durations, schedule);
    const double system = options_.system_spread > 0
                              ? std::exp(options_.system_spread * Normal(rng_))
                              : 1;
    steps.push_back(static_cast<double>(StepOf(schedule).count()) * system);
  }
  const auto quantile = [&](double share) {
    return Duration(std::llround(Quantile(steps, share)));
  };
  return {.p10 = quantile(0.1), .p50 = quantile(0.5), .p90 = quantile(0.9)};
}

}  // namespace

StepInterval SampleInterval(const ir::GraphData& data,
                            const Prediction& prediction,
                            const PredictOptions& options) {
  return Sampler(data, prediction, options).Sample();
}

}  // namespace stepcast::engine
