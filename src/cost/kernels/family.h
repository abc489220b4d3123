// A kernel family: how the physics of its kernels is worked out.
#ifndef STEPCAST_COST_KERNELS_FAMILY_H_
#define STEPCAST_COST_KERNELS_FAMILY_H_

#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>

#include "base/check.h"
#include "cost/machine.h"
#include "ir/shape.h"

namespace stepcast::cost {

/// What limits a kernel.
enum class Bound { kCompute, kDram, kL2, kLatency, kLink };
std::string_view Name(Bound bound);

/// What the physics of a family says of one kernel alone on an idle GPU, in
/// microseconds.
struct Base {
  double time_us = 0;      // The estimate; never below the roofline.
  double compute_us = 0;   // Of the arithmetic alone, at the sustained rate.
  double memory_us = 0;    // Of the traffic alone, at the sustained rate.
  double roofline_us = 0;  // No kernel is faster: datasheet peaks.
  Bound bound = Bound::kLatency;
  /// What is asked for, whatever algorithm does it: 2 for a multiplication and
  /// its sum. 0 for families that are not made of products and sums.
  double flops = 0;
  /// Read and written at least: each input and result once.
  double bytes = 0;
};

/// Numbers a learned correction looks at.
class FeatureVector {
 public:
  static constexpr size_t kMost = 64;
  void Add(double value) {
    CHECK(size_ < kMost);
    // Trees go one way or the other: NaN goes the way of small numbers.
    values_[size_++] = value == value ? static_cast<float>(value) : 0.0F;
  }
  /// log2, with 0 kept apart from small numbers.
  void AddLog(double value) { Add(std::log2(value > 1e-9 ? value : 1e-9)); }
  void Clear() { size_ = 0; }
  std::span<const float> values() const { return {values_.data(), size_}; }

 private:
  std::array<float, kMost> values_{};
  size_t size_ = 0;
};

/// One row of the list in families.cc. Every function is pure.
struct Family {
  std::string_view name;  // As ir::FamilyName.
  /// The formula. Called with sized shapes of this family only.
  Base (*base)(const ir::KernelShape& shape, const Machine& machine) = nullptr;
  /// Adds the features, always the same number of them in the same order, or
  /// null if no correction is learned for this family.
  void (*features)(const ir::KernelShape& shape, const Machine& machine,
                   const Base& base, FeatureVector& features) = nullptr;
};

/// Every family, in the order of ir::KernelShape. Opaque and collectives have
/// none.
std::span<const Family> Families();

/// The family of a shape, or null.
const Family* FindFamily(const ir::KernelShape& shape);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_FAMILY_H_
