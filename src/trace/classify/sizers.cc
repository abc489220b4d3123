#include "trace/classify/sizers.h"

#include <array>

namespace stepcast::trace {

std::span<const FamilySizer> AllSizers() {
  static constexpr std::array<FamilySizer, 19> kSizers = {{
      {"gemm", SizeGemm},
      {"embedding_bag", SizeEmbedding},
      {"interaction", SizeInteraction},
      {"elementwise", SizeElementwise},
      {"reduction", SizeReduction},
      {"softmax", SizeSoftmax},
      {"normalization", SizeNormalization},
      {"convolution", SizeConvolution},
      {"pooling", SizePooling},
      {"attention", SizeAttention},
      {"concat", SizeConcat},
      {"transpose", SizeTranspose},
      {"index", SizeIndex},
      {"sort", SizeSort},
      {"copy", SizeCopy},
      {"fill", SizeFill},
      {"optimizer_step", SizeOptimizer},
      {"random", SizeRandom},
      {"collective", SizeCollective},
  }};
  return kSizers;
}

}  // namespace stepcast::trace
