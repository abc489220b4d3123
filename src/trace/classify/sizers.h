// The families' sizers: from the ops around a launch to a shape's numbers.
//
// A sizer never fails. What it cannot learn stays 0 or kUnknown; it does not
// estimate.
#ifndef STEPCAST_TRACE_CLASSIFY_SIZERS_H_
#define STEPCAST_TRACE_CLASSIFY_SIZERS_H_

#include <span>
#include <string_view>

#include "ir/shape.h"
#include "trace/classify/request.h"

namespace stepcast::trace {

ir::KernelShape SizeAttention(const SizeRequest& request);
ir::KernelShape SizeCollective(const SizeRequest& request);
ir::KernelShape SizeConcat(const SizeRequest& request);
ir::KernelShape SizeConvolution(const SizeRequest& request);
ir::KernelShape SizeCopy(const SizeRequest& request);
ir::KernelShape SizeElementwise(const SizeRequest& request);
ir::KernelShape SizeEmbedding(const SizeRequest& request);
ir::KernelShape SizeFill(const SizeRequest& request);
ir::KernelShape SizeGemm(const SizeRequest& request);
ir::KernelShape SizeIndex(const SizeRequest& request);
ir::KernelShape SizeInteraction(const SizeRequest& request);
ir::KernelShape SizeNormalization(const SizeRequest& request);
ir::KernelShape SizeOptimizer(const SizeRequest& request);
ir::KernelShape SizePooling(const SizeRequest& request);
ir::KernelShape SizeRandom(const SizeRequest& request);
ir::KernelShape SizeReduction(const SizeRequest& request);
ir::KernelShape SizeSoftmax(const SizeRequest& request);
ir::KernelShape SizeSort(const SizeRequest& request);
ir::KernelShape SizeTranspose(const SizeRequest& request);

struct FamilySizer {
  std::string_view family;  // As in ir::FamilyName.
  ir::KernelShape (*size)(const SizeRequest& request) = nullptr;
};

/// One row per family, all but "opaque".
std::span<const FamilySizer> AllSizers();

// What sizers ask of each other.

/// Which inputs of a product's op are its factors; nothing for other ops. Those
/// of linear are left out: its weight's layout is its own.
std::optional<std::pair<size_t, size_t>> FactorsOf(std::string_view op);

/// The product that a matrix op computes; nothing if it computes none or its
/// arguments do not show it.
std::optional<ir::Gemm> GemmOf(const OpContext& op);
/// The convolution that an op, forward or backward, belongs to; unknown numbers
/// are 0.
std::optional<ir::Convolution> ConvolutionOf(const SizeRequest& request);
/// The lookups around an embedding op; unknown numbers are 0.
ir::EmbeddingBag LookupsOf(const SizeRequest& request);
/// The output's rows and columns of a convolution.
int64_t OutputElements(const ir::Convolution& convolution);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_CLASSIFY_SIZERS_H_
