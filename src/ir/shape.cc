#include "ir/shape.h"

#include "ir/shape_fields.h"

namespace stepcast::ir {
namespace {

bool IsKnown(int64_t number) {
  return number > 0;
}
bool IsKnown(Bytes bytes) {
  return bytes.count > 0;
}
bool IsKnown(DType dtype) {
  return dtype != DType::kUnknown;
}
bool IsKnown(CopyKind kind) {
  return kind != CopyKind::kUnknown;
}
bool IsKnown(CollectiveKind kind) {
  return kind != CollectiveKind::kUnknown;
}
// Fields of these types have no unknown value.
template <typename T>
bool IsKnown(const T& /*value*/) {
  return true;
}

template <typename S>
bool HasNeededFields(const S& shape) {
  bool known = true;
  ForEachField<S>([&](const auto& field) {
    known = known &&
            (field.need == Need::kOptional || IsKnown(shape.*field.member));
  });
  return known;
}

}  // namespace

std::string_view FamilyName(const KernelShape& shape) {
  return std::visit([]<typename S>(const S&) { return Family<S>::kName; },
                    shape);
}

bool IsSized(const KernelShape& shape) {
  if (std::holds_alternative<Opaque>(shape)) {
    return false;
  }
  if (const auto* collective = std::get_if<Collective>(&shape)) {
    // A rank may send nothing at all, but then the splits say so.
    if (collective->bytes.count <= 0 && collective->send_splits.empty() &&
        collective->kind != CollectiveKind::kBarrier) {
      return false;
    }
  }
  return std::visit([](const auto& typed) { return HasNeededFields(typed); },
                    shape);
}

}  // namespace stepcast::ir
