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

// Works of one shape and price, whose times are drawn together.
struct Drawn {
  uint32_t shape = 0;
  WorkPrice price{};

  bool operator==(const Drawn& other) const {
    return shape == other.shape && price.model == other.price.model &&
           price.p10_us == other.price.p10_us &&
           price.p50_us == other.price.p50_us &&
           price.p90_us == other.price.p90_us;
  }
};

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
  Sampler(const StepResult& result, const PredictOptions& options);

  StepInterval Sample();

 private:
  void Draw(std::vector<Duration>& durations);
  void FindClosers();
  Duration StepOf(const sim::Schedule& schedule);

  const StepResult& result_;
  const PredictOptions& options_;
  Rng rng_;
  std::vector<Drawn> drawn_;
  // By task: the host's factor is 0, that of drawn_[i] is i + 1.
  std::vector<uint32_t> factor_of_task_;
  // Of the draw at hand.
  std::vector<double> of_model_;
  std::vector<double> of_shape_;
  std::vector<double> factors_;
  // Tasks that tell when the steps of a rank end.
  struct Closer {
    sim::TaskId task{};
    uint32_t rank = 0;
    bool in_last = false;
  };
  std::vector<Closer> closers_;
  std::vector<StepSpan> spans_;
};

Sampler::Sampler(const StepResult& result, const PredictOptions& options)
    : result_(result),
      options_(options),
      rng_(options.seed),
      of_model_(result.works.models.size()),
      of_shape_(result.graph->data().shapes.size()) {
  const ir::GraphData& data = result.graph->data();
  // Of each shape the last one; most have a single price.
  std::vector<uint32_t> last_of_shape(data.shapes.size());
  std::vector<uint32_t> factor_of_work;
  for (const ir::WorkId id : data.works.ids()) {
    const Drawn drawn{.shape = data.works[id].shape.value,
                      .price = result.works.prices[id]};
    uint32_t& last = last_of_shape[drawn.shape];
    if (last == 0 || !(drawn_[last - 1] == drawn)) {
      drawn_.push_back(drawn);
      last = static_cast<uint32_t>(drawn_.size());
    }
    factor_of_work.push_back(last);
  }
  factors_.resize(drawn_.size() + 1);
  for (const TaskOrigin& origin : result.lowered.origins) {
    factor_of_task_.push_back(origin.kind == TaskOrigin::Kind::kWork
                                  ? factor_of_work[origin.work.value]
                                  : 0);
  }
  FindClosers();
}

// Draws the duration of every task.
void Sampler::Draw(std::vector<Duration>& durations) {
  for (double& z : of_model_) {
    z = rng_.Normal();
  }
  for (double& z : of_shape_) {
    z = rng_.Normal();
  }
  factors_[0] = std::exp(options_.host_spread * rng_.Normal());
  for (size_t i = 0; i < drawn_.size(); ++i) {
    const Drawn& drawn = drawn_[i];
    const double z = std::sqrt(kShared) * of_model_[drawn.price.model] +
                     std::sqrt(1 - kShared) * of_shape_[drawn.shape];
    factors_[i + 1] = FactorOf(drawn.price, z);
  }
  const auto& tasks = result_.lowered.tasks.tasks().items();
  for (size_t i = 0; i < durations.size(); ++i) {
    const double drawn = static_cast<double>(tasks[i].duration.count()) *
                         factors_[factor_of_task_[i]];
    // Rounded: no duration is negative, and llround() is a call each.
    constexpr double kHalf = 0.5;
    durations[i] = Duration(static_cast<int64_t>(drawn + kHalf));
  }
}

// Of each lane, the last task and the last before the last repeat: all tasks
// before them end earlier (compare LastSpans).
void Sampler::FindClosers() {
  const lower::Lowered& lowered = result_.lowered;
  const auto last = static_cast<uint32_t>(lowered.rank_ends.size()) - 1;
  std::vector<sim::TaskId> of_lane(lowered.tasks.lane_count());
  std::vector<sim::TaskId> before(lowered.tasks.lane_count());
  for (const sim::TaskId task : lowered.origins.ids()) {
    const uint32_t lane = lowered.tasks.tasks()[task].lane.value;
    of_lane[lane] = task;
    if (lowered.origins[task].repeat < last) {
      before[lane] = task;
    }
  }
  for (size_t lane = 0; lane < of_lane.size(); ++lane) {
    for (const sim::TaskId task : {of_lane[lane], before[lane]}) {
      if (task.valid()) {
        const TaskOrigin& origin = lowered.origins[task];
        closers_.push_back({.task = task,
                            .rank = origin.rank.value,
                            .in_last = origin.repeat == last});
      }
    }
  }
}

Duration Sampler::StepOf(const sim::Schedule& schedule) {
  spans_ = SingleSpans(result_.lowered, schedule);
  if (options_.repeats > 1) {
    for (StepSpan& span : spans_) {
      span.end = span.begin;
    }
    for (const Closer& closer : closers_) {
      const Duration end = schedule.placements[closer.task].end;
      StepSpan& span = spans_[closer.rank];
      span.end = std::max(span.end, end);
      span.begin = closer.in_last ? span.begin : std::max(span.begin, end);
    }
  }
  return LongestOf(spans_);
}

StepInterval Sampler::Sample() {
  std::vector<Duration> durations(result_.lowered.tasks.tasks().size());
  sim::Schedule schedule;
  std::vector<double> steps;
  for (uint32_t i = 0; i < options_.samples; ++i) {
    Draw(durations);
    sim::Resimulate(result_.lowered.tasks, durations, schedule);
    const double system = options_.system_spread > 0
                              ? std::exp(options_.system_spread * rng_.Normal())
                              : 1;
    steps.push_back(static_cast<double>(StepOf(schedule).count()) * system);
  }
  const auto quantile = [&](double share) {
    return Duration(std::llround(Quantile(steps, share)));
  };
  return {.p10 = quantile(0.1), .p50 = quantile(0.5), .p90 = quantile(0.9)};
}

}  // namespace

StepInterval SampleInterval(const StepResult& result,
                            const PredictOptions& options) {
  return Sampler(result, options).Sample();
}

}  // namespace stepcast::engine
