// precision: products and activations in another type.
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "whatif/changes/all.h"
#include "workload/settings.h"

namespace stepcast::whatif {
namespace {

using ir::DType;

bool IsFloat32(DType dtype) {
  return dtype == DType::kFp32 || dtype == DType::kTf32;
}

Bytes Halved(Bytes bytes) {
  return {bytes.count / 2};
}

// What a shape in FP32 becomes; nothing if it stays. Tables and optimizers keep
// their type under mixed precision, as do collectives (see fp16-comm).
class Recast {
 public:
  Recast(DType to, bool tables) : to_(to), tables_(tables) {}

  std::optional<ir::KernelShape> operator()(
      const ir::KernelShape& shape) const {
    return std::visit([this](const auto& item) { return Of(item); }, shape);
  }

 private:
  template <typename Shape>
  std::optional<ir::KernelShape> Of(const Shape& shape) const {
    using Result = std::optional<ir::KernelShape>;
    if constexpr (std::is_same_v<Shape, ir::Collective> ||
                  std::is_same_v<Shape, ir::OptimizerStep>) {
      return Result();
    } else if constexpr (requires { shape.dtype; }) {
      if (!IsFloat32(shape.dtype) || shape.dtype == to_) {
        return Result();
      }
      if (std::is_same_v<Shape, ir::EmbeddingBag> && !tables_) {
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

  DType to_;
  bool tables_;
};

}  // namespace

Status SetPrecision(const Change& change, engine::Request& request) {
  ASSIGN_OR_RETURN(request.settings.precision,
                   workload::ParsePrecision(change.value));
  return {};
}

// A work takes its time multiplied with what models make of its shape in both
// types. What is not known to be FP32 keeps its time.
Status EditPrecision(const Change& change, StepEditor& editor) {
  ASSIGN_OR_RETURN(const workload::Precision precision,
                   workload::ParsePrecision(change.value));
  DType to = DType::kFp16;
  bool tables = false;
  switch (precision) {
    case workload::Precision::kFp32:
      return Fail(ErrorCode::kUnsupported,
                  "change precision=fp32 does not apply to a recorded step; "
                  "expected tf32, amp-fp16, fp16 or bf16");
    case workload::Precision::kTf32:
      to = DType::kTf32;
      break;
    case workload::Precision::kAmpFp16:
      break;
    case workload::Precision::kFp16:
      tables = true;
      break;
    case workload::Precision::kBf16:
      to = DType::kBf16;
      tables = true;
      break;
  }
  ASSIGN_OR_RETURN(const cost::KernelModels* models, editor.Models());
  const Recast recast(to, tables);
  const ir::GraphData& data = editor.data();
  std::vector<std::optional<std::pair<cost::Estimate, cost::Estimate>>> prices(
      data.shapes.size());
  for (const ir::ShapeId id : data.shapes.ids()) {
    const auto shape = recast(data.shapes[id]);
    const auto from = shape ? models->Price(data.shapes[id]) : std::nullopt;
    const auto after = shape ? models->Price(*shape) : std::nullopt;
    if (from && after) {
      prices[id.value] = std::pair(*from, *after);
    }
  }
  size_t repriced = 0;
  size_t optimizer = 0;
  for (const ir::WorkId id : data.works.ids()) {
    const auto& price = prices[data.works[id].shape.value];
    if (!price) {
      continue;
    }
    // Parameters keep their type under mixed precision.
    if (!tables && PhaseOf(data, id) == ir::Phase::kOptimizer) {
      ++optimizer;
      continue;
    }
    editor.Reprice(id, price->first, price->second);
    ++repriced;
  }
  if (repriced == 0) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("change {} does not apply: no kernel is known to "
                            "work in FP32; expected a trace with shapes",
                            change.text));
  }
  editor.Note(fmt::format(
      "{} of {} works priced in {}; casts between types are not added{}",
      repriced, data.works.size(), change.value,
      optimizer == 0 ? "" : ", and the optimizer keeps its type"));
  return {};
}

}  // namespace stepcast::whatif
