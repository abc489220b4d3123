#include "engine/explain/kernel_rates.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "cost/kernels/cpu_kernels.h"
#include "cost/kernels/family.h"

namespace stepcast::engine {
namespace {

// A kernel is slow that takes so many times what nine of ten of its shape take
// on the GPU. The 1.5 on top leaves room for what no model of a kernel alone
// has: clocks under a power limit (V100: 1.0 of 1.5 GHz in long products).
constexpr double kSlowFactor = 1.5;
// And so much longer: shorter ones differ by what the recorder sees of a start,
// and older recorders write integer microseconds.
constexpr double kLeastLostUs = 5;
// What kernels of a shape lost is reported from this share of all ranks' steps
// on: less is within what steps differ by.
constexpr double kLeastLostShare = 1e-3;

// What is known of one kernel of a shape.
struct ShapePrice {
  cost::Base base{};
  double p50_us = 0;
  double p90_us = 0;
  cost::Origin origin = cost::Origin::kUnknown;
};

using ShapePrices = std::vector<std::optional<ShapePrice>>;

ShapePrices PriceShapes(const ir::GraphData& data, const RateModels& with) {
  const auto shapes = data.shapes.items();
  ShapePrices prices(shapes.size());
  if (with.same_gpu) {
    std::vector<std::optional<cost::Estimate>> estimates(shapes.size());
    with.models->PriceAll(shapes, estimates);
    for (size_t i = 0; i < shapes.size(); ++i) {
      if (estimates[i]) {
        prices[i] = {.base = estimates[i]->base,
                     .p50_us = estimates[i]->p50_us,
                     .p90_us = estimates[i]->p90_us,
                     .origin = estimates[i]->origin};
      }
    }
    return prices;
  }
  for (size_t i = 0; i < shapes.size(); ++i) {
    const cost::Family* family = cost::FindFamily(shapes[i]);
    if (family != nullptr && ir::IsSized(shapes[i])) {
      const cost::Base base =
          cost::BaseOn(*family, shapes[i], with.models->machine());
      prices[i] = {.base = {.flops = base.flops, .bytes = base.bytes}};
    }
  }
  return prices;
}

bool IsProduct(const ir::KernelShape& shape) {
  return std::holds_alternative<ir::Gemm>(shape) ||
         std::holds_alternative<ir::Convolution>(shape) ||
         std::holds_alternative<ir::Attention>(shape) ||
         std::holds_alternative<ir::Interaction>(shape);
}

ir::DType TypeOf(const ir::KernelShape& shape) {
  return std::visit(
      []<typename S>(const S& typed) {
        if constexpr (requires { typed.dtype; }) {
          return typed.dtype;
        } else {
          return ir::DType::kUnknown;
        }
      },
      shape);
}

class RateMaker {
 public:
  RateMaker(const StepResult& result, const RateModels& with)
      : result_(result),
        graph_(*result.graph),
        data_(result.graph->data()),
        with_(with),
        prices_(PriceShapes(data_, with)) {}

  KernelRates Make();

 private:
  struct Key {
    StringId op{};
    ir::ShapeId shape{};
    ir::ActivityKind kind = ir::ActivityKind::kKernel;
    // NOLINTNEXTLINE(modernize-use-nullptr)
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  StringId OpOf(const ir::Activity& activity) const;
  std::optional<ShapePrice> PriceOf(const ir::Activity& activity) const;
  double SharedUs(ir::ActivityId id) const;
  double OverlapWith(ir::StreamId stream, Duration begin, Duration end) const;
  void AddKernel(ir::ActivityId id);
  void AddSlow(ir::ActivityId id, const Key& key, const ShapePrice& price);
  void AddCopy(ir::ActivityId id, const ir::Copy& copy);
  void AddUse(const ir::Activity& activity, double time_us,
              const std::optional<ShapePrice>& price);
  RateMark MarkOf(const RateSum& sum, double peak_flops_us) const;
  void Finish();

  const StepResult& result_;
  const ir::Graph& graph_;
  const ir::GraphData& data_;
  const RateModels& with_;
  ShapePrices prices_;
  std::map<size_t, FamilyRates> families_;   // By index of shape.
  std::map<size_t, double> family_peak_us_;  // Of all FLOP, at their peaks.
  std::map<Key, ShapeRates> groups_;
  std::map<Key, SlowKernels> slow_;
  std::map<std::pair<ir::CopyKind, bool>, CopyRates> copies_;
  IdVector<ir::StreamId, IdRange<ir::ActivityId>> streams_;
  KernelRates rates_;
};

StringId RateMaker::OpOf(const ir::Activity& activity) const {
  if (activity.call.valid() && data_.calls[activity.call].op.valid()) {
    return data_.ops[data_.calls[activity.call].op].name;
  }
  return activity.name;
}

std::optional<ShapePrice> RateMaker::PriceOf(
    const ir::Activity& activity) const {
  std::optional<ShapePrice> price = prices_[activity.shape.value];
  const auto* fill = std::get_if<ir::Fill>(&data_.shapes[activity.shape]);
  if (price && with_.same_gpu && fill != nullptr &&
      activity.kind == ir::ActivityKind::kMemset) {
    const cost::Estimate estimate = with_.models->PriceMemset(*fill);
    price = ShapePrice{.base = estimate.base,
                       .p50_us = estimate.p50_us,
                       .p90_us = estimate.p90_us,
                       .origin = estimate.origin};
  }
  return price;
}

// How much of [begin, end) anything ran on the stream, waiting left out.
double RateMaker::OverlapWith(ir::StreamId stream, Duration begin,
                              Duration end) const {
  const IdRange<ir::ActivityId> range = streams_[stream];
  const auto placement = [&](uint32_t i) -> const sim::Placement* {
    const sim::TaskId task = result_.lowered.activity_tasks[ir::ActivityId{i}];
    return task.valid() ? &result_.schedule.placements[task] : nullptr;
  };
  // The first that may end after `begin`: a stream runs one after the other.
  uint32_t low = range.first;
  uint32_t high = range.first + range.count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    const sim::Placement* found = placement(middle);
    if (found != nullptr && found->end <= begin) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  Duration sum{};
  for (uint32_t i = low; i < range.first + range.count; ++i) {
    const sim::Placement* found = placement(i);
    if (found != nullptr && found->start >= end) {
      break;
    }
    if (found != nullptr) {
      sum += std::max(Duration{},
                      std::min(found->end, end) - std::max(found->run, begin));
    }
  }
  return ToMicroseconds(sum);
}

double RateMaker::SharedUs(ir::ActivityId id) const {
  const sim::TaskId task = result_.lowered.activity_tasks[id];
  if (!task.valid()) {
    return 0;
  }
  const sim::Placement& placement = result_.schedule.placements[task];
  const ir::StreamId own = data_.activities[id].stream;
  double sum = 0;
  for (const ir::StreamId stream : data_.streams.ids()) {
    if (stream != own &&
        data_.streams[stream].rank == data_.streams[own].rank &&
        data_.streams[stream].device == data_.streams[own].device) {
      sum += OverlapWith(stream, placement.run, placement.end);
    }
  }
  return std::min(sum, ToMicroseconds(placement.end - placement.run));
}

void RateMaker::AddSlow(ir::ActivityId id, const Key& key,
                        const ShapePrice& price) {
  const double time_us = result_.activities.prices[id].p50_us;
  if (!with_.same_gpu || time_us <= kSlowFactor * price.p90_us ||
      time_us - price.p50_us < kLeastLostUs) {
    return;
  }
  SlowKernels& slow = slow_[key];
  slow.op = key.op;
  slow.shape = key.shape;
  slow.usual_us = price.p50_us;
  slow.usual_p90_us = price.p90_us;
  slow.time_us += time_us;
  slow.longest_us = std::max(slow.longest_us, time_us);
  slow.shared_us += SharedUs(id);
  ++slow.count;
  const ir::RankId rank = data_.streams[data_.activities[id].stream].rank;
  const int64_t number = data_.ranks[rank].number;
  if (slow.ranks.empty() || slow.ranks.back() != number) {
    slow.ranks.push_back(number);
  }
}

void RateMaker::AddUse(const ir::Activity& activity, double time_us,
                       const std::optional<ShapePrice>& price) {
  const ir::KernelShape& shape = data_.shapes[activity.shape];
  if (!IsProduct(shape)) {
    return;
  }
  RankUse& use = rates_.ranks[data_.streams[activity.stream].rank.value];
  use.all_us += time_us;
  if (price) {
    use.known_us += time_us;
    use.flops += price->base.flops;
    use.ideal_us += price->base.flops /
                    with_.models->machine().peak_gemm_rate(TypeOf(shape));
  }
}

void AddTo(RateSum& sum, double time_us, double recorded_us,
           const std::optional<ShapePrice>& price) {
  ++sum.count;
  sum.time_us += time_us;
  sum.recorded_us += recorded_us;
  if (price) {
    ++sum.sized;
    sum.sized_us += time_us;
    sum.flops += price->base.flops;
    sum.bytes += price->base.bytes;
    sum.roofline_us += price->base.roofline_us;
    sum.model_us += price->p50_us;
  }
}

void RateMaker::AddKernel(ir::ActivityId id) {
  const ir::Activity& activity = data_.activities[id];
  const double time_us = result_.activities.prices[id].p50_us;
  const double recorded_us =
      activity.measured ? ToMicroseconds(activity.measured->duration) : 0;
  const std::optional<ShapePrice> price = PriceOf(activity);
  const Key key{OpOf(activity), activity.shape, activity.kind};
  ShapeRates& group = groups_[key];
  group.op = key.op;
  group.shape = key.shape;
  AddTo(group.sum, time_us, recorded_us, price);
  const ir::KernelShape& shape = data_.shapes[activity.shape];
  FamilyRates& family = families_[shape.index()];
  family.family = ir::FamilyName(shape);
  AddTo(family.sum, time_us, recorded_us, price);
  AddUse(activity, time_us, price);
  if (price) {
    group.origin = price->origin;
    if (IsProduct(shape)) {
      family_peak_us_[shape.index()] +=
          price->base.flops /
          with_.models->machine().peak_gemm_rate(TypeOf(shape));
    }
    AddSlow(id, key, *price);
  }
}

void RateMaker::AddCopy(ir::ActivityId id, const ir::Copy& copy) {
  CopyRates& sum = copies_[{copy.kind, copy.pinned}];
  const std::optional<ShapePrice>& price =
      prices_[data_.activities[id].shape.value];
  sum.kind = copy.kind;
  sum.pinned = copy.pinned;
  ++sum.count;
  sum.bytes += static_cast<double>(copy.bytes.count);
  sum.time_us += result_.activities.prices[id].p50_us;
  if (price) {
    sum.roofline_us += price->base.roofline_us;
    sum.model_us += price->p50_us;
  }
}

// `peak_flops_us`: what the FLOP take at the peak of their data types.
RateMark RateMaker::MarkOf(const RateSum& sum, double peak_flops_us) const {
  if (!with_.same_gpu || sum.sized == 0) {
    return RateMark::kNone;
  }
  if (sum.roofline_us > sum.sized_us) {
    return RateMark::kAbovePeak;
  }
  if (peak_flops_us > sum.sized_us) {
    return RateMark::kFewerProducts;
  }
  const double dram_us = sum.bytes / with_.models->machine().peak_dram_rate();
  return dram_us > sum.sized_us ? RateMark::kInL2 : RateMark::kNone;
}

void RateMaker::Finish() {
  for (auto& [index, family] : families_) {
    family.mark = MarkOf(family.sum, family_peak_us_[index]);
    rates_.families.push_back(family);
  }
  for (auto& [key, group] : groups_) {
    const ir::KernelShape& shape = data_.shapes[key.shape];
    group.mark =
        MarkOf(group.sum,
               IsProduct(shape)
                   ? group.sum.flops /
                         with_.models->machine().peak_gemm_rate(TypeOf(shape))
                   : 0);
    rates_.kernels.push_back(group);
  }
  double steps_us = 0;
  for (const RankUse& use : rates_.ranks) {
    steps_us += use.step_us;
  }
  for (auto& [key, slow] : slow_) {
    if (slow.lost_us() < kLeastLostShare * steps_us) {
      continue;
    }
    slow.all = groups_[key].sum.count;
    rates_.slow.push_back(std::move(slow));
  }
  for (const auto& [key, copies] : copies_) {
    rates_.copies.push_back(copies);
  }
  const auto by_time = [](const auto& rates) { return -rates.sum.time_us; };
  std::ranges::stable_sort(rates_.families, {}, by_time);
  std::ranges::stable_sort(rates_.kernels, {}, by_time);
  std::ranges::stable_sort(rates_.slow, std::ranges::greater(),
                           &SlowKernels::lost_us);
  std::ranges::stable_sort(rates_.copies, {}, [](const CopyRates& copies) {
    return -copies.time_us;
  });
}

KernelRates RateMaker::Make() {
  for (size_t i = 0; i < result_.accounts.size(); ++i) {
    rates_.ranks.push_back(
        {.rank = result_.accounts[i].rank,
         .step_us = ToMicroseconds(result_.accounts[i].step)});
  }
  streams_ =
      IdVector<ir::StreamId, IdRange<ir::ActivityId>>(data_.streams.size());
  for (const ir::ActivityId id : data_.activities.ids()) {
    IdRange<ir::ActivityId>& range = streams_[data_.activities[id].stream];
    range.first = range.count == 0 ? id.value : range.first;
    ++range.count;
  }
  const IdVector<ir::ActivityId, char> launched = LaunchedByStep(data_);
  for (const ir::ActivityId id : data_.activities.ids()) {
    const ir::Activity& activity = data_.activities[id];
    const auto* copy = std::get_if<ir::Copy>(&data_.shapes[activity.shape]);
    if (launched[id] == 0 || !result_.lowered.activity_tasks[id].valid() ||
        activity.kind == ir::ActivityKind::kCollective) {
      continue;
    }
    if (copy == nullptr) {
      AddKernel(id);
    } else if (copy->kind != ir::CopyKind::kHostToHost) {
      AddCopy(id, *copy);
    }
  }
  Finish();
  return std::move(rates_);
}

}  // namespace

IdVector<ir::ActivityId, char> LaunchedByStep(const ir::GraphData& data) {
  IdVector<ir::ActivityId, char> launched(data.activities.size(), 1);
  const auto left_overs = timeline::LeftOvers(data);
  for (const ir::ActivityId id : left_overs.ids()) {
    launched[id] = left_overs[id].valid() ? 0 : 1;
  }
  return launched;
}

KernelBounds BoundsOf(const KernelRates& rates,
                      const cost::KernelModels& models) {
  // Below a quarter of the roofline neither units nor memory are what a kernel
  // waits for: it is too small for the GPU, or its steps follow each other.
  constexpr double kNearRoofline = 0.25;
  const double dram_gbs = models.machine().device.dram_gbs;
  KernelBounds bounds;
  double total = 0;
  for (const ShapeRates& kernels : rates.kernels) {
    const RateSum& sum = kernels.sum;
    total += sum.time_us;
    bounds.unknown += sum.time_us - sum.sized_us;
    const double memory_us = dram_gbs > 0 ? sum.bytes / (dram_gbs * 1e3) : 0;
    double& part = sum.roofline_share() < kNearRoofline       ? bounds.latency
                   : sum.roofline_us > memory_us * (1 + 1e-9) ? bounds.compute
                                                              : bounds.memory;
    part += sum.sized_us;
  }
  for (double* part :
       {&bounds.compute, &bounds.memory, &bounds.latency, &bounds.unknown}) {
    *part = total > 0 ? *part / total : 0;
  }
  return bounds;
}

KernelRates RateKernels(const StepResult& result, const RateModels& models) {
  return RateMaker(result, models).Make();
}

}  // namespace stepcast::engine
