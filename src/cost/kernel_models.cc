#include "cost/kernel_models.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "cost/kernels/bandwidth.h"
#include "cost/kernels/cpu_kernels.h"
#include "cost/kernels/families.h"
#include "cost/kernels/family.h"
#include "cost/machine.h"
#include "hw/device.h"
#include "ir/shape_fields.h"

namespace stepcast::cost {

struct LazyModel::State {
  std::once_flag once{};
  std::optional<FittedModel> own{};
  ModelFile file{};
  std::string suffix{};
  const FittedModel* model = nullptr;
  std::string name{};
};

LazyModel::LazyModel(FittedModel model, std::string_view suffix)
    : state_(std::make_unique<State>()) {
  state_->own = std::move(model);
  state_->suffix = suffix;
}

LazyModel::LazyModel(const ModelFile& file, std::string_view suffix)
    : state_(std::make_unique<State>()) {
  state_->file = file;
  state_->suffix = suffix;
}

LazyModel::LazyModel(LazyModel&& other) noexcept = default;
LazyModel& LazyModel::operator=(LazyModel&& other) noexcept = default;
LazyModel::~LazyModel() = default;

const LazyModel::State& LazyModel::Read() const {
  std::call_once(state_->once, [this] {
    state_->model = state_->own ? &*state_->own : &ReadBuiltIn(state_->file);
    state_->name = fmt::format("{}-{}{}", state_->model->family,
                               state_->model->chosen, state_->suffix);
  });
  return *state_;
}

const FittedModel& LazyModel::model() const {
  return *Read().model;
}

const std::string& LazyModel::name() const {
  return Read().name;
}

namespace {

// Formulas of families without any measurement: as far off as one may expect of
// a formula that nobody checked.
constexpr FormulaSpread kUnchecked = {.log2_p10 = -0.8, .log2_p90 = 0.8};
// A fit borrowed from another card of the chip: clocks and memory differ a bit
// more than the formula knows (6 % within a family of GPUs), twice of it to be
// on the safe side of power limits.
constexpr double kBorrowedLog2 = 0.12;
// How far a feature may lie outside its fitted range, in its own unit (mostly
// log2), before an answer counts as extrapolated.
constexpr double kRangeSlack = 0.25;

// Up to here, as good as twice or half the size, the edge of the data stands
// for what lies outside.
constexpr double kNearDistance = 1;

// A small kernel of a family.
ir::KernelShape ExampleOf(std::string_view family) {
  constexpr int64_t kSize = 64;
  ir::KernelShape shape =
      ir::ParseShape(family).value_or(ir::KernelShape(ir::Opaque{}));
  std::visit(
      []<typename S>(S& typed) {
        ir::ForEachField<S>([&](const auto& field) {
          using Type = std::remove_cvref_t<decltype(typed.*field.member)>;
          if constexpr (std::is_same_v<Type, int64_t>) {
            typed.*field.member = kSize;
          } else if constexpr (std::is_same_v<Type, Bytes>) {
            typed.*field.member = {kSize};
          } else if constexpr (std::is_same_v<Type, ir::DType>) {
            typed.*field.member = ir::DType::kFp32;
          }
        });
      },
      shape);
  return shape;
}

// TF32 without units for it is FP32; nothing if the shape is as it is.
std::optional<ir::KernelShape> WithoutTf32(const ir::KernelShape& shape) {
  return std::visit(
      []<typename S>(const S& typed) -> std::optional<ir::KernelShape> {
        if constexpr (requires { typed.dtype; }) {
          if (typed.dtype == ir::DType::kTf32) {
            S plain = typed;
            plain.dtype = ir::DType::kFp32;
            return plain;
          }
        }
        return std::nullopt;
      },
      shape);
}

size_t FamilyPlace(const Family& family) {
  return static_cast<size_t>(&family - Families().data());
}

// How far the features lie outside of what was fitted: the farthest, in its own
// unit; 0 inside.
double DistanceOutside(const FittedModel& model,
                       std::span<const float> features) {
  float distance = 0;
  for (size_t i = 0; i < features.size(); ++i) {
    distance = std::max(
        {distance, model.low[i] - features[i], features[i] - model.high[i]});
  }
  return distance;
}

// A product with a vector is a kernel of its own, which no replay overlaps.
bool IsMatrixProduct(const ir::KernelShape& shape) {
  const auto* gemm = std::get_if<ir::Gemm>(&shape);
  return gemm != nullptr && gemm->m > 1 && gemm->n > 1 && gemm->k > 1;
}

// The number of features of a family, counted on an example.
size_t CountFeatures(const Family& family, const Machine& machine) {
  const ir::KernelShape example = ExampleOf(family.name);
  FeatureVector features;
  FeaturesOn(family, example, machine, family.base(example, machine), features);
  return features.values().size();
}

Estimate Bounded(Estimate estimate) {
  // No kernel beats the datasheet, whatever was learned.
  const double least = estimate.base.roofline_us;
  estimate.p10_us = std::max(estimate.p10_us, least);
  estimate.p50_us = std::max(estimate.p50_us, least);
  estimate.p90_us = std::max(estimate.p90_us, least);
  return estimate;
}

// An estimate for another device, by the ratio of the formulas.
Estimate CarriedOver(Estimate estimate, const Base& base) {
  if (base.time_us == estimate.base.time_us) {
    return estimate;  // What was asked for is not its concern.
  }
  const double ratio = base.time_us / estimate.base.time_us;
  estimate.p10_us *= ratio * std::exp2(-kBorrowedLog2);
  estimate.p50_us *= ratio;
  estimate.p90_us *= ratio * std::exp2(kBorrowedLog2);
  estimate.base = base;
  estimate.origin = Origin::kExtrapolated;
  return Bounded(estimate);
}

}  // namespace

std::string_view Name(Origin origin) {
  constexpr std::array<std::string_view, kOriginCount> kNames = {
      "measured", "fitted", "formula", "extrapolated", "unknown"};
  return kNames[static_cast<size_t>(origin)];
}

Estimate AsRecorded(Estimate estimate) {
  estimate.p10_us += estimate.recorded_more_us;
  estimate.p50_us += estimate.recorded_more_us;
  estimate.p90_us += estimate.recorded_more_us;
  estimate.recorded_more_us = 0;
  return estimate;
}

Result<KernelModels> KernelModels::Load(const hw::Device& device,
                                        const ProfileStore& store) {
  if (device.published != nullptr) {
    ASSIGN_OR_RETURN(KernelModels models, Load(*device.published, store));
    models.asked_ = models.machine_;
    models.asked_->device = device;
    KeepCeilings(models.machine_.device, models.asked_->device);
    return models;
  }
  KernelModels models;
  models.machine_.device = device;
  ASSIGN_OR_RETURN(models.machine_.constants, store.LoadConstants());
  ASSIGN_OR_RETURN(models.spreads_, store.LoadSpreads());
  models.places_.resize(Families().size());
  for (const Family& family : Families()) {
    models.formula_names_.push_back(fmt::format("{}-formula", family.name));
  }
  // "v100-sxm-16gb@1297MHz" has the files of "v100-sxm-16gb".
  const std::string name = device.name.substr(0, device.name.find('@'));
  ASSIGN_OR_RETURN(models.profile_, store.LoadLazily(name));
  // Ceilings nobody measured here are those of the nearest card.
  std::vector<std::pair<Profile, Machine>> borrowed;
  for (const std::string& other : device.borrow) {
    ASSIGN_OR_RETURN(Profile profile, store.LoadLazily(other));
    ASSIGN_OR_RETURN(hw::Device seen_on, hw::FindDevice(other));
    ApplyCeilings(profile, seen_on);
    borrowed.emplace_back(std::move(profile),
                          Machine{.device = std::move(seen_on),
                                  .constants = models.machine_.constants});
  }
  for (auto it = borrowed.rbegin(); it != borrowed.rend(); ++it) {
    BorrowCeilings(it->first, it->second.device, models.machine_.device);
  }
  ApplyCeilings(models.profile_, models.machine_.device);
  models.has_ceilings_ =
      !models.profile_.ceilings.empty() ||
      std::ranges::none_of(models.machine_.device.derived,
                           [](const std::string& note) {
                             return note.starts_with("copy_share");
                           });
  const Machine own = models.machine_;
  Profile profile = models.profile_;
  models.profile_.models.clear();
  models.profile_.unread.clear();
  RETURN_IF_ERROR(models.AddModels(std::move(profile), own, false));
  for (auto& [other, seen_on] : borrowed) {
    RETURN_IF_ERROR(models.AddModels(std::move(other), seen_on, true));
  }
  return models;
}

void KernelModels::SetLatency(double latency_us) {
  if (latency_us > 0) {
    const double constant = LatencyConstant(latency_us, machine_);
    machine_.constants.Set(Constant::kLatencyUs, constant);
    if (asked_) {
      asked_->constants.Set(Constant::kLatencyUs, constant);
    }
  }
}

Status KernelModels::AddModels(Profile profile, const Machine& seen_on,
                               bool borrowed) {
  const std::string suffix =
      borrowed ? fmt::format(" of {}", profile.gpu) : std::string();
  for (FittedModel& model : profile.models) {
    const auto family =
        std::ranges::find(Families(), model.family, &Family::name);
    if (family == Families().end()) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("a model of {} is for '{}', which is not a "
                              "family",
                              profile.gpu, model.family));
    }
    const size_t place = FamilyPlace(*family);
    const size_t features = CountFeatures(*family, seen_on);
    if (model.low.size() != features) {
      return Fail(
          ErrorCode::kInvalidInput,
          fmt::format("the {} model of {} has {} features; this "
                      "version has {}: fit it again",
                      model.family, profile.gpu, model.low.size(), features));
    }
    const Variant variant = model.variant;
    AddAnswer(place, variant,
              {.fitted = LazyModel(std::move(model), suffix),
               .seen_on = seen_on,
               .borrowed = borrowed});
  }
  for (const ModelFile& file : profile.unread) {
    const auto family =
        std::ranges::find(Families(), file.family, &Family::name);
    CHECK(family != Families().end()) << file.name;
    AddAnswer(FamilyPlace(*family), file.variant,
              {.fitted = LazyModel(file, suffix),
               .seen_on = seen_on,
               .borrowed = borrowed});
  }
  return {};
}

void KernelModels::AddAnswer(size_t family, Variant variant, Answer answer) {
  uint32_t& slot = places_[family][static_cast<size_t>(variant)];
  if (slot == 0) {
    answers_.push_back(std::move(answer));
    slot = static_cast<uint32_t>(answers_.size());
  }
}

const KernelModels::Answer* KernelModels::FindAnswer(size_t family,
                                                     Variant variant) const {
  const uint32_t place = places_[family][static_cast<size_t>(variant)];
  return place == 0 ? nullptr : &answers_[place - 1];
}

Estimate KernelModels::FromFormula(const ir::KernelShape& shape, size_t family,
                                   const Base& base) const {
  const FamilySpread* found = FindSpread(spreads_, shape);
  FormulaSpread spread = kUnchecked;
  if (found != nullptr) {
    spread = has_ceilings_ ? found->ceilings : found->nothing;
  }
  return Bounded(
      {.p10_us = base.time_us * std::exp2(spread.log2_p10),
       .p50_us = base.time_us,
       .p90_us = base.time_us * std::exp2(spread.log2_p90),
       .base = base,
       .origin = has_ceilings_ ? Origin::kFormula : Origin::kExtrapolated,
       .model = formula_names_[family]});
}

Estimate KernelModels::FromAnswer(const Answer& answer, const Base& base,
                                  std::span<const float> features,
                                  double trees) const {
  const FittedModel& model = answer.fitted.model();
  // What was learned at the edge of the data holds less the farther away. On a
  // processor it is still better than the formula, which is a GPU's.
  const double distance = DistanceOutside(model, features);
  const double far =
      IsCpu(machine_) ? 0 : std::max(0.0, distance - kNearDistance);
  const double time =
      base.time_us *
      std::exp2(CorrectionOf(model, base.time_us, trees) / (1 + far));
  const size_t bin = model.spread.BinOf(time);
  const double slack = answer.borrowed ? kBorrowedLog2 : 0;
  return Bounded(
      {.p10_us = time * std::exp2(model.spread.log2_p10[bin] - slack),
       .p50_us = time,
       .p90_us = time * std::exp2(model.spread.log2_p90[bin] + slack),
       .base = base,
       .origin =
           distance > kRangeSlack ? Origin::kExtrapolated : Origin::kFitted,
       .model = answer.fitted.name()});
}

Estimate KernelModels::PriceMemset(const ir::Fill& fill) const {
  const Family* family = FindFamily(fill);
  CHECK(family != nullptr);
  const auto base = [&](const Machine& machine) {
    return IsServer(machine) ? BaseOn(*family, fill, machine)
                             : MemsetBase(fill, machine);
  };
  const Estimate estimate =
      FromFormula(fill, FamilyPlace(*family), base(machine_));
  return asked_ ? CarriedOver(estimate, base(*asked_)) : estimate;
}

std::optional<Estimate> KernelModels::Price(
    const ir::KernelShape& shape) const {
  std::optional<Estimate> estimate;
  PriceAll({&shape, 1}, {&estimate, 1});
  return estimate;
}

void KernelModels::PriceAll(
    std::span<const ir::KernelShape> shapes,
    std::span<std::optional<Estimate>> estimates) const {
  CHECK(shapes.size() == estimates.size());
  PricePublished(shapes, estimates);
  if (!asked_) {
    return;
  }
  const bool has_tf32 = hw::HasTf32(asked_->device);
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (estimates[i]) {
      const auto plain = has_tf32 ? std::nullopt : WithoutTf32(shapes[i]);
      const ir::KernelShape& shape = plain ? *plain : shapes[i];
      estimates[i] = CarriedOver(*estimates[i],
                                 BaseOn(*FindFamily(shape), shape, *asked_));
    }
  }
}

void KernelModels::PricePublished(
    std::span<const ir::KernelShape> shapes,
    std::span<std::optional<Estimate>> estimates) const {
  // Rows that wait for one model's trees.
  struct Waiting {
    std::vector<uint32_t> places;
    std::vector<Base> bases;
    std::vector<float> features;
  };
  // As many as stay in a cache next to the trees.
  constexpr size_t kBlock = 128;
  std::vector<Waiting> waiting(answers_.size());
  std::vector<float> sums;
  const auto finish = [&](size_t which) {
    const Answer& answer = answers_[which];
    Waiting& rows = waiting[which];
    sums.assign(rows.places.size(), 0);
    const Forest& forest = answer.fitted.model().forest;
    forest.Evaluate(rows.features, sums);
    const size_t width = forest.feature_count();
    for (size_t i = 0; i < rows.places.size(); ++i) {
      estimates[rows.places[i]] =
          FromAnswer(answer, rows.bases[i],
                     std::span(rows.features).subspan(i * width, width),
                     static_cast<double>(sums[i]));
      if (IsMatrixProduct(shapes[rows.places[i]])) {
        estimates[rows.places[i]]->recorded_more_us =
            LongerThanReplayedUs(answer.fitted.model().gpu);
      }
    }
    rows.places.clear();
    rows.bases.clear();
    rows.features.clear();
  };
  FeatureVector features;
  const bool has_tf32 = hw::HasTf32(machine_.device);
  for (uint32_t i = 0; i < shapes.size(); ++i) {
    const auto plain = has_tf32 ? std::nullopt : WithoutTf32(shapes[i]);
    const ir::KernelShape& shape = plain ? *plain : shapes[i];
    const Family* family = FindFamily(shape);
    if (family == nullptr || !ir::IsSized(shape)) {
      estimates[i] = std::nullopt;
      continue;
    }
    const size_t place = FamilyPlace(*family);
    const Base base = BaseOn(*family, shape, machine_);
    const Answer* answer = FindAnswer(place, VariantOf(shape));
    if (answer == nullptr) {
      estimates[i] = FromFormula(shape, place, base);
      continue;
    }
    features.Clear();
    // A borrowed model sees the kernel on the GPU it knows.
    const Base seen =
        answer->borrowed ? family->base(shape, answer->seen_on) : base;
    FeaturesOn(*family, shape, answer->seen_on, seen, features);
    const auto which = static_cast<size_t>(answer - answers_.data());
    Waiting& rows = waiting[which];
    rows.places.push_back(i);
    rows.bases.push_back(base);
    rows.features.insert(rows.features.end(), features.values().begin(),
                         features.values().end());
    if (rows.places.size() == kBlock) {
      finish(which);
    }
  }
  for (size_t which = 0; which < waiting.size(); ++which) {
    if (!waiting[which].places.empty()) {
      finish(which);
    }
  }
}

}  // namespace stepcast::cost
