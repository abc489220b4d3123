#include "engine/run/predict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "base/rng.h"
#include "base/stats.h"
#include "cost/collectives/load.h"
#include "engine/explain/step_result.h"
#include "hw/cluster.h"
#include "hw/links.h"
#include "ir/names.h"
#include "sim/simulate.h"
#include "timeline/lower.h"
#include "timeline/measured_times.h"

namespace stepcast::engine {
namespace {

constexpr size_t kLinkCount = 4;

// A transfer under way.
struct Running {
  size_t index = 0;
  double left_us = 0;  // If it were alone from here on.
};

// How much longer than alone each microsecond of a transfer takes.
double SlowdownOf(const Transfer& transfer,
                  const std::array<double, kLinkCount>& wanted) {
  double slowdown = 1;
  for (size_t link = 0; link < kLinkCount; ++link) {
    if ((transfer.links >> link & 1) != 0) {
      slowdown = std::max(slowdown, wanted[link]);
    }
  }
  return slowdown;
}

std::array<double, kLinkCount> WantedBy(const std::vector<Running>& running,
                                        std::span<const Transfer> transfers) {
  std::array<double, kLinkCount> wanted{};
  for (const Running& one : running) {
    const Transfer& transfer = transfers[one.index];
    for (size_t link = 0; link < kLinkCount; ++link) {
      wanted[link] += (transfer.links >> link & 1) != 0 ? transfer.share : 0;
    }
  }
  return wanted;
}

// Over what a collective of so many ranks goes.
uint8_t LinksOf(const hw::Cluster& cluster, const ir::Collective& part) {
  const bool among_nodes =
      cluster.domains() > 1 && part.group_size != cluster.gpus_per_node;
  if (among_nodes) {
    return kNetwork;
  }
  const hw::LinkRates links = hw::LinksOf(cluster.node, cluster.gpus_per_node);
  const bool direct =
      part.kind == ir::CollectiveKind::kAllToAll ? links.peers_direct : true;
  return links.direct && direct ? kFabric : kToDevice | kFromDevice;
}

// Which activities are transfers, and what they ask of their links.
class Linker {
 public:
  Linker(const ir::GraphData& data, const PriceOptions& options)
      : data_(data), options_(options) {}

  std::optional<Transfer> Find(ir::ActivityId id,
                               const ActivityPrice& alone) const {
    const ir::KernelShape& shape = data_.shapes[data_.activities[id].shape];
    if (const auto* part = std::get_if<ir::Collective>(&shape)) {
      return OfCollective(*part, alone);
    }
    if (const auto* copy = std::get_if<ir::Copy>(&shape)) {
      return OfCopy(*copy, alone);
    }
    return std::nullopt;
  }

 private:
  const hw::Cluster& cluster() const {
    return options_.collectives.models->cluster();
  }

  // Twice the bytes take longer by the part of the time that moves them.
  std::optional<Transfer> OfCollective(const ir::Collective& part,
                                       const ActivityPrice& alone) const {
    if (part.kind == ir::CollectiveKind::kSendRecv) {
      return std::nullopt;  // Of the host (PriceHostActivities).
    }
    const CollectivePricing& pricing = options_.collectives;
    const auto load =
        cost::LoadOf(part, {.ranks = pricing.ranks, .nodes = pricing.nodes});
    if (!load || alone.p50_us <= 0) {
      return std::nullopt;
    }
    const double once = pricing.models->SharedUs(*load, 0);
    const double twice = pricing.models->SharedUs(*load, 1);
    return Transfer{.alone_us = alone.p50_us,
                    .links = LinksOf(cluster(), part),
                    .share = std::clamp(twice / once - 1, 0.0, 1.0)};
  }

  std::optional<Transfer> OfCopy(const ir::Copy& copy,
                                 const ActivityPrice& alone) const {
    const bool to_device = copy.kind == ir::CopyKind::kHostToDevice;
    if ((!to_device && copy.kind != ir::CopyKind::kDeviceToHost) ||
        alone.p50_us <= 0 || cluster().node.pcie_gbs <= 0) {
      return std::nullopt;
    }
    const double moving_us =
        static_cast<double>(copy.bytes.count) / (cluster().node.pcie_gbs * 1e3);
    return Transfer{.alone_us = alone.p50_us,
                    .links = to_device ? kToDevice : kFromDevice,
                    .share = std::min(moving_us / alone.p50_us, 1.0)};
  }

  const ir::GraphData& data_;
  const PriceOptions& options_;
};

}  // namespace

std::vector<double> ShareLinks(std::span<const Transfer> transfers) {
  std::vector<size_t> by_start(transfers.size());
  for (size_t i = 0; i < by_start.size(); ++i) {
    by_start[i] = i;
  }
  std::ranges::stable_sort(by_start, {},
                           [&](size_t i) { return transfers[i].start_us; });
  std::vector<double> taken(transfers.size());
  std::vector<Running> running;
  size_t next = 0;
  double now = 0;
  while (next < by_start.size() || !running.empty()) {
    const auto wanted = WantedBy(running, transfers);
    double until = next < by_start.size()
                       ? transfers[by_start[next]].start_us
                       : std::numeric_limits<double>::infinity();
    const Running* first = nullptr;
    for (const Running& one : running) {
      const double end =
          now + one.left_us * SlowdownOf(transfers[one.index], wanted);
      if (end <= until) {
        until = end;
        first = &one;
      }
    }
    const size_t ended = first != nullptr ? first->index : transfers.size();
    for (Running& one : running) {
      one.left_us -= (until - now) / SlowdownOf(transfers[one.index], wanted);
    }
    now = until;
    if (ended < transfers.size()) {
      taken[ended] =
          std::max(now - transfers[ended].start_us, transfers[ended].alone_us);
      std::erase_if(running,
                    [&](const Running& one) { return one.index == ended; });
    } else {
      const size_t begun = by_start[next++];
      running.push_back({begun, transfers[begun].alone_us});
    }
  }
  return taken;
}

bool ShareLinks(const ir::GraphData& data, const PriceOptions& options,
                const PricedActivities& alone, const timeline::Lowered& lowered,
                const sim::Schedule& schedule, PricedActivities& prices) {
  const Linker linker(data, options);
  std::vector<std::vector<Transfer>> transfers(data.ranks.size());
  std::vector<std::vector<ir::ActivityId>> activities(data.ranks.size());
  for (const ir::ActivityId id : data.activities.ids()) {
    if (auto transfer = linker.Find(id, alone.prices[id])) {
      const uint32_t rank = data.streams[data.activities[id].stream].rank.value;
      transfer->start_us =
          ToMicroseconds(schedule.placements[lowered.activity_tasks[id]].run);
      transfers[rank].push_back(*transfer);
      activities[rank].push_back(id);
    }
  }
  IdVector<ir::ActivityId, double> longer(data.activities.size());
  for (size_t rank = 0; rank < transfers.size(); ++rank) {
    const std::vector<double> taken = ShareLinks(transfers[rank]);
    for (size_t i = 0; i < taken.size(); ++i) {
      longer[activities[rank][i]] = taken[i] - transfers[rank][i].alone_us;
    }
  }
  for (const ir::MatchedCollective& collective : data.collectives) {
    double most = 0;
    for (const ir::ActivityId id : collective.activities) {
      most = std::max(most, longer[id]);
    }
    for (const ir::ActivityId id : collective.activities) {
      longer[id] = most;
    }
  }
  bool changed = false;
  for (const ir::ActivityId id : data.activities.ids()) {
    ActivityPrice price = alone.prices[id];
    // Integer nanoseconds, as tasks have: less does not change anything.
    const double extra = std::round(longer[id] * 1e3) / 1e3;
    price.p10_us += extra;
    price.p50_us += extra;
    price.p90_us += extra;
    changed = changed || price.p50_us != prices.prices[id].p50_us;
    prices.prices[id] = price;
  }
  return changed;
}

namespace {

// How far a predicted step time may be off, by Monte Carlo sampling of what is
// uncertain.

using timeline::TaskOrigin;

// Of the variance of a model's error, the part that all its activities share. A
// model is off in the same direction for neighbouring shapes, and a step's
// shapes are neighbours; half and half is the choice without data on steps.
constexpr double kShared = 0.5;
// The tenth percentile of a normal distribution is so many standard deviations
// from its mean.
constexpr double kDecile = 1.2816;

// Activities of one shape and price, whose times are sampled together.
struct Drawn {
  uint32_t shape = 0;
  ActivityPrice price{};

  bool operator==(const Drawn& other) const {
    return shape == other.shape && price.model == other.price.model &&
           price.p10_us == other.price.p10_us &&
           price.p50_us == other.price.p50_us &&
           price.p90_us == other.price.p90_us;
  }
};

// What a time is multiplied with when its error is `z` deviations.
double FactorOf(const ActivityPrice& price, double z) {
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
  // Of the current sample.
  std::vector<double> of_model_;
  std::vector<double> of_shape_;
  std::vector<double> factors_;
  // Tasks that show when the steps of a rank end.
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
      of_model_(result.activities.models.size()),
      of_shape_(result.graph->data().shapes.size()) {
  const ir::GraphData& data = result.graph->data();
  // Of each shape the last one; most have a single price.
  std::vector<uint32_t> last_of_shape(data.shapes.size());
  std::vector<uint32_t> factor_of_activity;
  for (const ir::ActivityId id : data.activities.ids()) {
    const Drawn drawn{.shape = data.activities[id].shape.value,
                      .price = result.activities.prices[id]};
    uint32_t& last = last_of_shape[drawn.shape];
    if (last == 0 || !(drawn_[last - 1] == drawn)) {
      drawn_.push_back(drawn);
      last = static_cast<uint32_t>(drawn_.size());
    }
    factor_of_activity.push_back(last);
  }
  factors_.resize(drawn_.size() + 1);
  for (const TaskOrigin& origin : result.lowered.origins) {
    factor_of_task_.push_back(origin.kind == TaskOrigin::Kind::kActivity
                                  ? factor_of_activity[origin.activity.value]
                                  : 0);
  }
  FindClosers();
}

// Samples the duration of every task.
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
  const timeline::Lowered& lowered = result_.lowered;
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

StepInterval SampleInterval(const StepResult& result,
                            const PredictOptions& options) {
  return Sampler(result, options).Sample();
}

// What the device adds to activities of each kind.
std::vector<timeline::DeviceDelays> DelaysByKind(
    const cost::OverheadTable& table) {
  std::vector<timeline::DeviceDelays> delays;
  for (const std::string_view kind : ir::Names<ir::ActivityKind>::kList) {
    const auto mean = [&](cost::OverheadPart part) {
      return FromMicroseconds(table.Lookup(part, kind).row.mean_us);
    };
    delays.push_back({.launch = mean(cost::OverheadPart::kLaunchLatency),
                      .gap = mean(cost::OverheadPart::kActivityGap),
                      .stream_wait = mean(cost::OverheadPart::kStreamWait)});
  }
  return delays;
}

timeline::ActivityTimes MakeTimes(const ir::GraphData& data,
                                  const PricedActivities& priced,
                                  const cost::OverheadTable* table,
                                  const timeline::MeasuredTimes* measured) {
  timeline::ActivityTimes times;
  if (measured != nullptr) {
    times = measured->times;
  } else {
    times.activities = IdVector<ir::ActivityId, timeline::ActivityTime>(
        data.activities.size());
    times.wait_delays.assign(data.stream_waits.size(), {});
  }
  for (const ir::ActivityId id : data.activities.ids()) {
    times.activities[id].duration = FromMicroseconds(priced.prices[id].p50_us);
  }
  if (table == nullptr) {
    return times;
  }
  const auto delays = DelaysByKind(*table);
  const auto delays_of =
      [&](ir::ActivityId id) -> const timeline::DeviceDelays& {
    return delays[static_cast<size_t>(data.activities[id].kind)];
  };
  for (const ir::ActivityId id : data.activities.ids()) {
    times.activities[id].launch = delays_of(id).launch;
    times.activities[id].gap = delays_of(id).gap;
  }
  for (size_t i = 0; i < data.stream_waits.size(); ++i) {
    times.wait_delays[i] = delays_of(data.stream_waits[i].after).stream_wait;
  }
  return times;
}

// Simulates the activities at their prices.
Status Run(const Scenario& scenario, const PredictOptions& options,
           const timeline::MeasuredTimes* measured, StepResult& result) {
  const ir::Graph& graph = *scenario.graph;
  ASSIGN_OR_RETURN(
      result.lowered,
      timeline::Lower(
          graph, result.plan,
          MakeTimes(graph.data(), result.activities, scenario.overheads,
                    measured),
          {.repeats = options.repeats,
           .rank_offsets = options.rank_offsets,
           .synchronous = scenario.models->machine().device.generation ==
                          hw::Generation::kCpu}));
  result.schedule = sim::Simulate(result.lowered.tasks);
  return {};
}

}  // namespace

Result<StepResult> Predict(const Scenario& scenario,
                           const PredictOptions& options) {
  const ir::Graph& graph = *scenario.graph;
  const ir::GraphData& data = graph.data();
  const bool timed = graph.is_timed();
  if (!timed && scenario.overheads == nullptr) {
    return Fail(ErrorCode::kInvalidInput,
                "the graph has no measured host times; expected a set of "
                "overheads");
  }
  std::optional<timeline::MeasuredTimes> measured;
  if (timed) {
    measured = timeline::TakeMeasuredTimes(data);
  }
  StepResult result;
  result.graph = scenario.graph;
  result.plan = scenario.overheads == nullptr
                    ? timeline::MeasuredPlan(data)
                    : timeline::PredictedPlan(graph, *scenario.overheads,
                                              {.profiled = options.profiled},
                                              &result.overheads);
  result.activities =
      PriceActivities(data, *scenario.models,
                      timed ? &measured->times : nullptr, options.price);
  const timeline::MeasuredTimes* const recorded = timed ? &*measured : nullptr;
  RETURN_IF_ERROR(Run(scenario, options, recorded, result));
  if (!timed && options.price.collectives.models != nullptr) {
    // What is in whose way depends on how long each takes: the second round
    // settles nearly all of it.
    constexpr int kMostRounds = 3;
    const PricedActivities alone = result.activities;
    for (int round = 0; round < kMostRounds &&
                        ShareLinks(data, options.price, alone, result.lowered,
                                   result.schedule, result.activities);
         ++round) {
      RETURN_IF_ERROR(Run(scenario, options, recorded, result));
    }
  }
  TakeSchedule(SpansOf(result.lowered, result.schedule), result);
  const std::vector<int64_t>& counts = options.price.collectives.rank_counts;
  for (size_t i = 0; i < std::min(counts.size(), result.accounts.size()); ++i) {
    result.accounts[i].alike = counts[i];
  }
  if (options.samples > 0) {
    result.interval = SampleInterval(result, options);
  }
  return result;
}

}  // namespace stepcast::engine
