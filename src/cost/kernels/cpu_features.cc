#include "cost/kernels/cpu_features.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <variant>

#include "cost/kernels/bandwidth.h"
#include "cost/kernels/cpu_base.h"
#include "ir/shape_fields.h"

namespace stepcast::cost {
namespace {

// Unknown sizes are 0 and stay there.
void AddSize(double size, FeatureVector& features) {
  features.Add(std::log2(1 + std::max(size, 0.0)));
}
void AddSize(int64_t size, FeatureVector& features) {
  AddSize(static_cast<double>(size), features);
}

template <typename S>
void AddFields(const S& shape, FeatureVector& features) {
  ir::ForEachField<S>([&](const auto& field) {
    const auto& value = shape.*field.member;
    using Type = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<Type, int64_t>) {
      AddSize(value, features);
    } else if constexpr (std::is_same_v<Type, Bytes>) {
      AddSize(value.count, features);
    } else if constexpr (std::is_same_v<Type, bool>) {
      features.Add(value ? 1 : 0);
    } else if constexpr (std::is_same_v<Type, ir::DType>) {
      features.AddLog(ElementBytes(value));
    } else if constexpr (std::is_enum_v<Type>) {
      features.Add(static_cast<double>(value));
    }
  });
}

// Only what a recorded call tells: nobody counts distinct rows there.
void AddFields(const ir::EmbeddingBag& bag, FeatureVector& features) {
  AddSize(bag.tables, features);
  AddSize(bag.rows, features);
  AddSize(bag.dim, features);
  AddSize(bag.batch, features);
  AddSize(bag.lookups, features);
  const auto lookups = static_cast<double>(bag.lookups);
  const auto dim = static_cast<double>(bag.dim);
  AddSize(bag.batch > 0 ? bag.lookups / bag.batch : 0, features);
  AddSize(static_cast<double>(bag.rows) * dim, features);
  AddSize(lookups * dim, features);
  features.Add(std::max(bag.index_alpha, 0.0));
  features.Add(static_cast<double>(bag.pass));
  features.Add(static_cast<double>(bag.update));
  features.Add(bag.pooled ? 1 : 0);
}

}  // namespace

void CpuFeatures(const ir::KernelShape& shape, const Base& base,
                 FeatureVector& features) {
  features.AddLog(base.time_us);
  features.AddLog(base.compute_us);
  features.AddLog(base.memory_us);
  std::visit([&](const auto& typed) { AddFields(typed, features); }, shape);
}

void FeaturesOn(const Family& family, const ir::KernelShape& shape,
                const Machine& machine, const Base& base,
                FeatureVector& features) {
  if (IsCpu(machine)) {
    CpuFeatures(shape, base, features);
  } else if (family.features != nullptr) {
    family.features(shape, machine, base, features);
  }
}

}  // namespace stepcast::cost
