// precision: products and activations in another type.
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "hw/device.h"
#include "model/settings.h"
#include "whatif/changes/all.h"

namespace stepcast::whatif {
namespace {

using ir::DType;

bool IsFloat32(DType dtype) {
  return dtype == DType::kFp32 || dtype == DType::kTf32;
}

Bytes Halved(Bytes bytes) {
  return {bytes.count / 2};
}

// Whether a shape has a type that a change of precision may have touched.
bool IsTypedFloat32(const ir::KernelShape& shape) {
  return std::visit(
      []<typename Shape>(const Shape& item) {
        if constexpr (requires { item.dtype; } &&
                      !std::is_same_v<Shape, ir::Collective>) {
          return IsFloat32(item.dtype);
        } else {
          return false;
        }
      },
      shape);
}

// What a shape becomes that began in FP32.
class Recast {
 public:
  explicit Recast(model::Precision precision) {
    switch (precision) {
      case model::Precision::kFp32:
        to_ = DType::kFp32;
        break;
      case model::Precision::kTf32:
        to_ = DType::kTf32;
        break;
      case model::Precision::kAmpFp16:
        to_ = DType::kFp16;
        break;
      case model::Precision::kFp16:
        to_ = DType::kFp16;
        parameters_ = true;
        break;
      case model::Precision::kBf16:
        to_ = DType::kBf16;
        parameters_ = true;
        break;
    }
  }

  // Whether tables and what the optimizer does change their type, too.
  bool parameters() const { return parameters_; }

  // Nothing of shapes that keep their type, whichever it is: collectives do
  // (see fp16-comm), and tables and optimizers under mixed precision.
  std::optional<ir::KernelShape> operator()(
      const ir::KernelShape& shape) const {
    return std::visit([this](const auto& item) { return Of(item); }, shape);
  }

 private:
  // FP32 and TF32 are one type but for products.
  template <typename Shape>
  static constexpr bool IsProduct() {
    return std::is_same_v<Shape, ir::Gemm> ||
           std::is_same_v<Shape, ir::Convolution> ||
           std::is_same_v<Shape, ir::Interaction>;
  }

  template <typename Shape>
  std::optional<ir::KernelShape> Of(const Shape& shape) const {
    using Result = std::optional<ir::KernelShape>;
    if constexpr (requires { shape.dtype; } &&
                  !std::is_same_v<Shape, ir::Collective> &&
                  !std::is_same_v<Shape, ir::OptimizerStep>) {
      if (!IsFloat32(shape.dtype) || (IsFloat32(to_) && !IsProduct<Shape>())) {
        return Result();
      }
      if (std::is_same_v<Shape, ir::EmbeddingBag> && !parameters_) {
        return Result();
      }
      Shape recast = shape;
      recast.dtype = to_;
      if constexpr (std::is_same_v<Shape, ir::Elementwise>) {
        if (ir::SizeOf(to_) < ir::SizeOf(shape.dtype)) {
          recast.read = Halved(shape.read);
          recast.written = Halved(shape.written);
        }
      }
      return Result(recast);
    } else {
      return Result();
    }
  }

  DType to_ = DType::kFp32;
  bool parameters_ = false;
};

// Activities of a step that take another type, and those that get theirs back.
class RecastActivities {
 public:
  RecastActivities(Recast recast, StepEditor& editor)
      : recast_(recast), editor_(editor) {}

  void Add(ir::ActivityId id);
  // How many have prices in both types.
  Result<size_t> Reprice() {
    RETURN_IF_ERROR(editor_.Reprice(reset_));
    return editor_.Reprice(changed_);
  }
  size_t changed() const { return changed_.size(); }
  size_t reset() const { return reset_.size(); }
  size_t already() const { return already_; }
  size_t optimizer() const { return optimizer_; }

 private:
  // The shape itself if it keeps its type.
  ir::ShapeId Recasted(ir::ShapeId first);

  const Recast recast_;
  StepEditor& editor_;
  std::map<ir::ShapeId, ir::ShapeId> shapes_;
  std::vector<ir::ActivityId> changed_;
  std::vector<ir::ActivityId> reset_;
  size_t already_ = 0;    // Of that type to begin with.
  size_t optimizer_ = 0;  // Of the optimizer, which keeps its type.
};

ir::ShapeId RecastActivities::Recasted(ir::ShapeId first) {
  const auto [place, added] = shapes_.emplace(first, first);
  if (added) {
    const auto shape = recast_(editor_.shape(first));
    if (shape && *shape != editor_.shape(first)) {
      place->second = editor_.AddShape(*shape);
    }
  }
  return place->second;
}

void RecastActivities::Add(ir::ActivityId id) {
  const ir::ShapeId first = editor_.FirstShape(id);
  if (!IsTypedFloat32(editor_.shape(first))) {
    return;
  }
  ir::ShapeId shape = Recasted(first);
  // Parameters keep their type under mixed precision.
  if (shape != first && !recast_.parameters() &&
      PhaseOf(editor_.data(), id) == ir::Phase::kOptimizer) {
    ++optimizer_;
    shape = first;
  } else if (shape == first && recast_(editor_.shape(first))) {
    ++already_;
  }
  if (shape != first) {
    changed_.push_back(id);
  } else if (editor_.times().activities[id].shape != first) {
    reset_.push_back(id);
  }
  editor_.SetShape(id, shape);
}

// Fails if the GPU, or a server's processors, cannot compute so.
Status CheckUnits(const Change& change, model::Precision precision,
                  const engine::Machine& machine) {
  if (precision == model::Precision::kTf32 &&
      !(machine.has_gpus() && hw::HasTf32(*machine.device))) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("change {} does not apply: {} no TF32 units; "
                            "expected a GPU that has, as NVIDIA's from Ampere "
                            "on",
                            change.text,
                            machine.has_gpus() ? machine.gpu + " has"
                                               : "processors have"));
  }
  return {};
}

}  // namespace

// An activity takes its time multiplied with what models make of its shape in
// both types. What did not begin in FP32 keeps its time.
Status EditPrecision(const Change& change, StepEditor& editor) {
  ASSIGN_OR_RETURN(const model::Precision precision,
                   model::ParsePrecision(change.value));
  const ir::GraphData& data = editor.data();
  RecastActivities activities(Recast(precision), editor);
  for (const ir::ActivityId id : data.activities.ids()) {
    activities.Add(id);
  }
  if (precision == model::Precision::kFp32 && activities.changed() == 0 &&
      activities.reset() == 0) {
    return {};
  }
  ASSIGN_OR_RETURN(const ShapePrices* const prices,
                   editor.PricesOn(editor.machine()));
  RETURN_IF_ERROR(CheckUnits(change, precision, editor.machine()));
  ASSIGN_OR_RETURN(const size_t repriced, activities.Reprice());
  if (repriced == 0 && precision == model::Precision::kFp32) {
    return {};
  }
  if (repriced == 0 && activities.already() == 0) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("change {} does not apply: no kernel is known to "
                            "work in FP32; expected a trace with shapes",
                            change.text));
  }
  editor.Note(fmt::format(
      "{} of {} activities priced in {}; casts between types are not added{}",
      repriced, data.activities.size(), change.value,
      activities.optimizer() == 0 ? "" : ", and the optimizer keeps its type"));
  const hw::Device& device = prices->models().machine().device;
  if (precision == model::Precision::kBf16 && !hw::HasBf16(device)) {
    editor.Note(fmt::format("{} has no BF16 units: products at FP32's rate",
                            editor.machine().gpu));
  }
  return {};
}

}  // namespace stepcast::whatif
