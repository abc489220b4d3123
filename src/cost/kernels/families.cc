#include <algorithm>

#include "cost/kernels/family.h"

namespace stepcast::cost {
namespace {

// Families are added here as their formulas come.
constexpr std::span<const Family> kFamilies{};

}  // namespace

std::string_view Name(Bound bound) {
  switch (bound) {
    case Bound::kCompute:
      return "compute";
    case Bound::kDram:
      return "dram";
    case Bound::kL2:
      return "l2";
    case Bound::kLink:
      return "link";
    case Bound::kLatency:
      break;
  }
  return "latency";
}

std::span<const Family> Families() {
  return kFamilies;
}

const Family* FindFamily(const ir::KernelShape& shape) {
  const auto found =
      std::ranges::find(kFamilies, ir::FamilyName(shape), &Family::name);
  return found == kFamilies.end() ? nullptr : &*found;
}

}  // namespace stepcast::cost
