#include "cost/kernels/families.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cost/kernels/embedding/embedding.h"
#include "cost/kernels/family.h"

namespace stepcast::cost {
namespace {

constexpr std::array kFamilies = {
    Family{"gemm", GemmBase, GemmFeatures},
    Family{"embedding_bag", EmbeddingBase, nullptr},
    Family{"interaction", InteractionBase, nullptr},
    Family{"elementwise", ElementwiseBase, ElementwiseFeatures},
    Family{"reduction", ReductionBase, ReductionFeatures},
    Family{"softmax", SoftmaxBase, SoftmaxFeatures},
    Family{"normalization", NormalizationBase, NormalizationFeatures},
    Family{"convolution", ConvolutionBase, ConvolutionFeatures},
    Family{"pooling", PoolingBase, nullptr},
    Family{"attention", AttentionBase, nullptr},
    Family{"concat", ConcatBase, ConcatFeatures},
    Family{"transpose", TransposeBase, TransposeFeatures},
    Family{"index", IndexBase, IndexFeatures},
    Family{"sort", SortBase, nullptr},
    Family{"copy", CopyBase, CopyFeatures},
    Family{"fill", FillBase, FillFeatures},
    Family{"optimizer_step", OptimizerStepBase, nullptr},
    Family{"random", RandomBase, nullptr},
};

// The family of each alternative of a shape.
template <size_t... I>
std::array<const Family*, sizeof...(I)> ByShape(
    std::index_sequence<I...> /*unused*/) {
  const auto find = [](std::string_view name) -> const Family* {
    const auto found = std::ranges::find(kFamilies, name, &Family::name);
    return found == kFamilies.end() ? nullptr : &*found;
  };
  return {find(ir::FamilyName(ir::KernelShape(std::in_place_index<I>)))...};
}

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
  static const auto by_shape =
      ByShape(std::make_index_sequence<std::variant_size_v<ir::KernelShape>>());
  return by_shape[shape.index()];
}

}  // namespace stepcast::cost
