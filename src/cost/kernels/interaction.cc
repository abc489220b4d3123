#include "cost/kernels/interaction.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "cost/kernels/bandwidth.h"

namespace stepcast::cost {
namespace {

// A sample's products are worked out in square tiles of this edge on matrix
// units, and of a warp's width on vector lanes.
constexpr double kMatrixTile = 16;
constexpr double kVectorTile = 32;
// What fused attention reaches of the peak of matrix units for long sequences:
// up to 73 % forward and 63 % backward on A100 (Dao, "FlashAttention-2", 2023),
// but 35 % on H100 (Shah et al., "FlashAttention-3", 2024). The lower one,
// since sequences are rarely long; profiled models on H100 and MI300X are at 20
// to 30.
constexpr double kAttentionForwardShare = 0.35;
constexpr double kAttentionBackwardShare = 0.30;
// Queries and keys are taken in blocks of this length.
constexpr double kAttentionBlock = 64;

double RoundUp(double value, double unit) {
  return std::ceil(value / unit) * unit;
}

// Streams, with a product at `rate` and its least time.
Base ProductBase(double bytes, double flops, double padded_flops, double rate,
                 double peak, const Machine& machine) {
  Base base =
      StreamBase({.bytes = bytes, .compute_us = padded_flops / rate}, machine);
  base.roofline_us = std::max(base.roofline_us, flops / peak);
  base.time_us = std::max(base.time_us, base.roofline_us);
  return base;
}

}  // namespace

Base InteractionBase(const ir::KernelShape& shape, const Machine& machine) {
  const auto& op = std::get<ir::Interaction>(shape);
  const bool backward = op.pass != ir::Pass::kForward;
  const auto batch = static_cast<double>(op.batch);
  const auto features = static_cast<double>(op.features);
  const auto dim = static_cast<double>(op.dim);
  const double peak = machine.peak_gemm_rate(op.dtype);
  const double tile = peak > machine.vector_rate() ? kMatrixTile : kVectorTile;
  const double padded = RoundUp(features, tile);
  const double products = backward ? 2 : 1;
  const double vectors = batch * features * dim;
  const double results = batch * (dim + features * (features - 1) / 2);
  const double bytes =
      ((backward ? 2 : 1) * vectors + results) * ElementBytes(op.dtype);
  return ProductBase(bytes, products * 2 * batch * features * features * dim,
                     products * 2 * batch * padded * padded * dim,
                     machine.batched_gemm_rate(op.dtype), peak, machine);
}

Base AttentionBase(const ir::KernelShape& shape, const Machine& machine) {
  const auto& op = std::get<ir::Attention>(shape);
  const bool backward = op.pass != ir::Pass::kForward;
  const double heads =
      static_cast<double>(op.batch) * static_cast<double>(op.heads);
  const auto queries = static_cast<double>(op.queries);
  const auto keys = static_cast<double>(op.keys);
  const auto dim = static_cast<double>(op.dim);
  const double peak = machine.peak_gemm_rate(op.dtype);
  const double products = backward ? 5 : 2;
  // Queries, keys, values and the result; their gradients come on top.
  const double tensors = heads * (2 * queries + 2 * keys) * dim;
  const double bytes = (backward ? 2 : 1) * tensors * ElementBytes(op.dtype);
  const double blocks =
      RoundUp(queries, kAttentionBlock) * RoundUp(keys, kAttentionBlock);
  const double rate =
      peak * (backward ? kAttentionBackwardShare : kAttentionForwardShare);
  return ProductBase(bytes, products * 2 * heads * queries * keys * dim,
                     products * 2 * heads * blocks * dim, rate, peak, machine);
}

}  // namespace stepcast::cost
