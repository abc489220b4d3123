#include "whatif/step_editor.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "base/units.h"
#include "cost/constants.h"
#include "hw/cluster.h"

namespace stepcast::whatif {

Status CollectiveRepricer::Reprice(ir::ActivityId id,
                                   const ir::Collective& to) {
  const auto& from = std::get<ir::Collective>(editor_.graph().shape(id));
  const engine::Machine& machine = editor_.first_machine();
  if (!machine.cluster) {
    return Fail(
        ErrorCode::kNotFound,
        fmt::format("{} has {} {}; expected --platform NAME of one "
                    "that has",
                    machine.platform.empty() ? "no built-in platform"
                                             : "no node of " + machine.platform,
                    std::max<int64_t>(machine.ranks, from.group_size),
                    machine.gpu.empty() ? "GPUs" : machine.gpu));
  }
  if (models_ == nullptr) {
    ASSIGN_OR_RETURN(models_, editor_.store().Collectives(machine.cluster));
  }
  const cost::RankGroup group{.ranks = machine.cluster->gpu_count(),
                              .nodes = machine.nodes};
  const auto before = models_->Price(from, group);
  const auto after = models_->Price(to, group);
  if (before && after) {
    editor_.SetShape(id, editor_.AddShape(to));
    editor_.Reprice(id, *before, *after, machine.gpu);
    ++repriced_;
  }
  return {};
}

void ShapePrices::Want(ir::ShapeId id, const ir::KernelShape& shape) {
  if (id.value >= known_.size()) {
    known_.resize(size_t{id.value} + 1);
    prices_.resize(known_.size());
  }
  if (known_[id.value] == 0) {
    known_[id.value] = 1;
    wanted_.push_back(id);
    shapes_.push_back(shape);
  }
}

void ShapePrices::Fill() {
  std::vector<std::optional<cost::Estimate>> found(shapes_.size());
  models_.PriceAll(shapes_, found);
  for (size_t i = 0; i < wanted_.size(); ++i) {
    if (found[i]) {
      prices_[wanted_[i].value] = cost::AsRecorded(*found[i]);
    }
  }
  wanted_.clear();
  shapes_.clear();
}

namespace {

// How well a ratio of bandwidths carries a time to another card of the chip is
// not measured; a third either way is what the formulas' worst families have.
constexpr double kRoughSpread = 1.33;
// Who answers where sizes are not known.
constexpr std::string_view kBandwidthModel = "bandwidth";

// The spread of a product of two independent factors whose edges these are.
double Joined(double a, double b) {
  const double joined = std::hypot(std::log(a), std::log(b));
  return a < 1 || b < 1 ? std::exp(-joined) : std::exp(joined);
}

}  // namespace

const ir::KernelShape& StepEditor::shape(ir::ShapeId id) const {
  const uint32_t of_graph = data().shapes.size();
  return id.value < of_graph ? data().shapes[id]
                             : times_.shapes[id.value - of_graph];
}

ir::ShapeId StepEditor::FirstShape(ir::ActivityId id) const {
  const auto fusion = times_.fusions.find(id);
  return fusion == times_.fusions.end() ? data().activities[id].shape
                                        : fusion->second.shape;
}

ir::ShapeId StepEditor::AddShape(ir::KernelShape shape) {
  times_.shapes.push_back(std::move(shape));
  return {data().shapes.size() +
          static_cast<uint32_t>(times_.shapes.size() - 1)};
}

Result<ShapePrices*> StepEditor::PricesOn(const engine::Machine& machine) {
  if (!machine.device) {
    return Fail(ErrorCode::kInvalidInput,
                "the trace does not name a GPU we know; expected --gpu NAME, "
                "the one it was recorded on");
  }
  const auto found = prices_.find(machine.device.name);
  if (found != prices_.end()) {
    return &found->second;
  }
  ASSIGN_OR_RETURN(const cost::KernelModels* models,
                   store_.Kernels(machine.device));
  return &prices_.emplace(machine.device.name, ShapePrices(*models))
              .first->second;
}

std::vector<ir::ActivityId> StepEditor::ActivitiesIn(ir::ActivityId id) const {
  const auto fusion = times_.fusions.find(id);
  return fusion == times_.fusions.end() ? std::vector<ir::ActivityId>{id}
                                        : fusion->second.activities;
}

// Whether the work is as it was to begin with.
bool StepEditor::IsFirst(ir::ActivityId id) const {
  return machine_.device.name == first_machine().device.name &&
         times_.activities[id].shape == data().activities[id].shape;
}

void StepEditor::TakeRatio(ir::ActivityId id, double ratio,
                           const Trust& trust) {
  EditedActivity& activity = times_.activities[id];
  activity.duration *= ratio / activity.ratio;
  activity.ratio = ratio;
  activity.trust = trust;
}

// Works by the ten thousand have a handful of models.
uint16_t StepEditor::ModelNumber(std::string_view model, std::string_view gpu) {
  for (const KnownModel& known : models_) {
    if (known.model == model && known.gpu == gpu) {
      return known.number;
    }
  }
  models_.push_back(
      {.model = std::string(model),
       .gpu = std::string(gpu),
       .number = NumberOf(fmt::format("{} of {}", model, gpu), times_)});
  return models_.back().number;
}

void StepEditor::Reprice(ir::ActivityId id, const cost::Estimate& from,
                         const cost::Estimate& to, std::string_view gpu) {
  const bool same = from.p50_us == to.p50_us && from.model == to.model;
  if (same || from.p50_us <= 0 || to.p50_us <= 0) {
    TakeRatio(id, 1, times_.origin->trusts[id]);
    return;
  }
  // Both models are off in their own way; what is measured is not.
  const double low = Joined(to.p10_us / to.p50_us, from.p10_us / from.p50_us);
  const double high = Joined(to.p90_us / to.p50_us, from.p90_us / from.p50_us);
  TakeRatio(id, to.p50_us / from.p50_us,
            {.low = std::min(low, 1.0),
             .high = std::max(high, 1.0),
             .model = ModelNumber(to.model, gpu),
             .source = to.origin});
}

void StepEditor::RepriceRoughly(ir::ActivityId id, double factor) {
  if (factor == 1) {
    TakeRatio(id, 1, times_.origin->trusts[id]);
    return;
  }
  const cost::Carry& carry = cost::CarryByBandwidth();
  const bool close = IsOnFirstChip();
  TakeRatio(id, factor,
            {.low = close ? 1 / kRoughSpread : std::exp2(carry.log2_p10),
             .high = close ? kRoughSpread : std::exp2(carry.log2_p90),
             .model = ModelNumber(kBandwidthModel, machine_.gpu),
             .source = cost::Origin::kExtrapolated});
}

bool StepEditor::IsOnFirstChip() const {
  return machine_.device->chip == first_machine().device->chip;
}

// Before any change; 0 if it was not recorded.
double StepEditor::RecordedUs(ir::ActivityId id) const {
  double sum = 0;
  for (const ir::ActivityId part : ActivitiesIn(id)) {
    const auto& measured = data().activities[part].measured;
    sum += measured ? ToMicroseconds(measured->duration) : 0;
  }
  return sum;
}

namespace {

// What a copy over the link is off belongs to the host, which stays.
double ShareOf(const cost::Carry& carry, const ir::KernelShape& shape) {
  const auto* copy = std::get_if<ir::Copy>(&shape);
  return copy != nullptr && copy->kind != ir::CopyKind::kDeviceToDevice
             ? 1
             : carry.share;
}

}  // namespace

// By a ratio of prices, everything that the recorded time is off by would be
// off on the new GPU, too; but other chips run other kernels.
void StepEditor::CarryOver(ir::ActivityId id, const cost::Estimate& from,
                           const cost::Estimate& to) {
  const double recorded_us = RecordedUs(id);
  if (recorded_us <= 0 || from.p50_us <= 0 || to.p50_us <= 0) {
    Reprice(id, from, to, machine_.gpu);
    return;
  }
  const ir::KernelShape& first = shape(FirstShape(id));
  const cost::Carry& carry = cost::CarryOf(ir::FamilyName(first));
  const double share = ShareOf(carry, first);
  TakeRatio(
      id,
      to.p50_us / from.p50_us * std::pow(recorded_us / from.p50_us, share - 1),
      {.low = std::exp2(carry.log2_p10),
       .high = std::exp2(carry.log2_p90),
       .model = ModelNumber(to.model, machine_.gpu),
       .source = to.origin});
}

double RoughShare(const ir::GraphData& data, const StepTimes& times) {
  std::vector<char> rough(times.models.size(), 0);
  for (size_t i = 0; i < rough.size(); ++i) {
    rough[i] =
        times.models[i].starts_with(fmt::format("{} of ", kBandwidthModel)) ? 1
                                                                            : 0;
  }
  double total = 0;
  double sum = 0;
  for (const ir::ActivityId id : data.activities.ids()) {
    const EditedActivity& activity = times.activities[id];
    if (!activity.dropped &&
        data.activities[id].kind != ir::ActivityKind::kCollective) {
      total += activity.duration;
      sum += rough[activity.trust.model] != 0 ? activity.duration : 0;
    }
  }
  return total > 0 ? sum / total : 0;
}

void StepEditor::NoteKnownSizes() {
  const double known = 1 - RoughShare(data(), times_);
  // What prints as 100 % needs no note.
  if (known < 0.9995) {
    Note(fmt::format(
        "sizes of {:.1f} % of the GPU time are known; the rest is scaled by "
        "bandwidth",
        100 * known));
  }
}

void StepEditor::WantPrices(ir::ActivityId id, ShapePrices& before,
                            ShapePrices& after) {
  const auto want = [&](ir::ActivityId part) {
    const ir::ShapeId first = data().activities[part].shape;
    before.Want(first, shape(first));
  };
  const auto fusion = times_.fusions.find(id);
  if (fusion == times_.fusions.end()) {
    want(id);
  } else {
    std::ranges::for_each(fusion->second.activities, want);
  }
  after.Want(times_.activities[id].shape, shape(id));
}

// Of all that an activity does, to begin with.
std::optional<cost::Estimate> StepEditor::FirstPrice(
    ir::ActivityId id, const ShapePrices& before) const {
  const auto fusion = times_.fusions.find(id);
  if (fusion == times_.fusions.end()) {
    return before[data().activities[id].shape];
  }
  std::optional<cost::Estimate> sum;
  for (const ir::ActivityId part : fusion->second.activities) {
    const auto& price = before[data().activities[part].shape];
    if (!price) {
      return std::nullopt;
    }
    if (!sum) {
      sum = *price;
    } else {
      sum->p10_us += price->p10_us;
      sum->p50_us += price->p50_us;
      sum->p90_us += price->p90_us;
    }
  }
  return sum;
}

bool StepEditor::RepriceOne(ir::ActivityId id, const ShapePrices& before,
                            const ShapePrices& after) {
  const auto from = FirstPrice(id, before);
  const auto& to = after[times_.activities[id].shape];
  const bool priced = from && to;
  if (IsFirst(id)) {
    TakeRatio(id, 1, times_.origin->trusts[id]);
  } else if (priced && IsOnFirstChip()) {
    Reprice(id, *from, *to, machine_.gpu);
  } else if (priced) {
    CarryOver(id, *from, *to);
  } else {
    RepriceRoughly(id, before.models().machine().copy_rate() /
                           after.models().machine().copy_rate());
  }
  return priced;
}

Result<size_t> StepEditor::Reprice(std::span<const ir::ActivityId> activities) {
  ASSIGN_OR_RETURN(ShapePrices* const before, PricesOn(first_machine()));
  ASSIGN_OR_RETURN(ShapePrices* const after, PricesOn(machine_));
  for (const ir::ActivityId id : activities) {
    WantPrices(id, *before, *after);
  }
  before->Fill();
  after->Fill();
  size_t priced = 0;
  for (const ir::ActivityId id : activities) {
    priced += RepriceOne(id, *before, *after) ? 1 : 0;
  }
  if (machine_.device.name != first_machine().device.name) {
    NoteKnownSizes();
  }
  return priced;
}

ir::Phase PhaseOf(const ir::GraphData& data, ir::OpId op) {
  while (op.valid() && data.ops[op].phase == ir::Phase::kUnknown) {
    op = data.ops[op].parent;
  }
  return op.valid() ? data.ops[op].phase : ir::Phase::kUnknown;
}

ir::Phase PhaseOf(const ir::GraphData& data, ir::CallId call) {
  return call.valid() ? PhaseOf(data, data.calls[call].op)
                      : ir::Phase::kUnknown;
}

ir::Phase PhaseOf(const ir::GraphData& data, ir::ActivityId activity) {
  return PhaseOf(data, data.activities[activity].call);
}

}  // namespace stepcast::whatif
