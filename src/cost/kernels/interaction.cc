#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <variant>

#include "cost/kernels/bandwidth.h"
#include "cost/kernels/families.h"
#include "cost/kernels/steps.h"

namespace stepcast::cost {
namespace {

// A sample's products are worked out in square tiles of this edge on matrix
// units, and of a warp's width on vector lanes.
constexpr double kMatrixTile = 16;
constexpr double kVectorTile = 32;
// Shared memory has 32 banks that each deliver a word of 4 bytes per clock
// (CUDA C++ Programming Guide, compute capability 5.x to 9.x), so loads of 16
// bytes are served for 8 threads at a time.
constexpr int64_t kSharedBytesPerClock = 128;
constexpr int64_t kLoadBytes = 16;
constexpr int64_t kThreadsOfLoad = kSharedBytesPerClock / kLoadBytes;
// What fused attention reaches of the peak of matrix units for long sequences:
// up to 73 % forward and 63 % backward on A100 (Dao, "FlashAttention-2", 2023),
// but 35 % on H100 (Shah et al., "FlashAttention-3", 2024). The lower one,
// since sequences are rarely long; profiled models on H100 and MI300X are at 20
// to 30.
constexpr double kAttentionForwardShare = 0.35;
constexpr double kAttentionBackwardShare = 0.30;
// A block of threads takes so many queries (FlashAttention-2's and AOTriton's
// forward kernels, by the grids in profiles of H100 and MI300X), or half of
// them where there are no more, and goes over the keys in tiles.
constexpr double kAttentionQueries = 128;
constexpr double kAttentionFewQueries = 64;
constexpr double kAttentionKeys = 128;
constexpr double kCdnaAttentionKeys = 64;
// In a tile, each product waits for the one before it and what it loads: a step
// (steps.h). CDNA takes twice the clocks, as for softmax; 11 profiled kernels
// of MI300X with 77 to 16,384 keys agree within a third in the median.
constexpr double kCdnaAttentionStep = 2;

// Forward on vector lanes, as NVIDIA's kernel does it (DeepLearningExamples,
// dotBasedInteractF32Fwd): a block has one sample's vectors in shared memory,
// and a thread multiplies one pair from there, 16 bytes of either at a time.
// Threads side by side have the first vector in common and differ in the
// second. Where vectors begin at the same bank, these take turns.
//
//   banks:     0..3 4..7 ...          8 threads, 8 second vectors:
//   vector 0:  [ a ][   ] ...         one bank group, 8 clocks
//   vector 1:  [ a ][   ] ...
double PairsUs(const ir::Interaction& op, const Machine& machine) {
  const int64_t vector_bytes =
      std::max<int64_t>(op.dim, 1) * ir::SizeOf(op.dtype);
  const int64_t starts =
      kSharedBytesPerClock / std::gcd(kSharedBytesPerClock, vector_bytes);
  const auto threads = static_cast<double>(kThreadsOfLoad);
  const double second = 1 / std::min(threads, static_cast<double>(starts));
  const double first = 1 / threads;
  const auto features = static_cast<double>(op.features);
  const double pairs = features * (features - 1) / 2;
  const double loads =
      static_cast<double>(vector_bytes) / static_cast<double>(kLoadBytes);
  const double clocks = pairs * loads * (first + second);
  const double samples_of_sm =
      std::ceil(static_cast<double>(op.batch) / machine.device.sm_count);
  return samples_of_sm * clocks / (machine.device.clock_ghz * 1e3);
}

// Streams, with products that run at `peak` at best.
Base ProductBase(const Streams& streams, double flops, double peak,
                 const Machine& machine) {
  Base base = StreamBase(streams, machine);
  base.flops = flops;
  base.roofline_us = std::max(base.roofline_us, flops / peak);
  base.time_us = std::max(base.time_us, base.roofline_us);
  return base;
}

struct AttentionSizes {
  double heads = 0;  // Of all sequences.
  double queries = 0;
  double keys = 0;
  double dim = 0;
};

// A block goes over its tiles one after the other, however few blocks there
// are:
//
//   block 0:  [keys: product][values: product][keys: product]...
//   block 1:  [keys: product][values: product][keys: product]...
//
// The steps are as many for one sequence as for a thousand; the products of
// blocks that share an SM come on top.
double TilesUs(const AttentionSizes& sizes, double products, double rate,
               const Machine& machine) {
  const bool cdna = IsCdna(machine);
  const double width = cdna ? kCdnaAttentionKeys : kAttentionKeys;
  const double height =
      std::min(kAttentionQueries, RoundUp(sizes.queries, kAttentionFewQueries));
  const double tiles = std::ceil(sizes.keys / width);
  const double blocks = sizes.heads * std::ceil(sizes.queries / height);
  const double blocks_of_sm = std::max(1.0, blocks / machine.sm_count());
  const double tile_us =
      products * 2 * height * width * sizes.dim / (rate / machine.sm_count());
  const double step_us = StepsUs(cdna ? kCdnaAttentionStep : 1, machine);
  return tiles * (blocks_of_sm * tile_us + products * step_us);
}

}  // namespace

Base InteractionBase(const ir::KernelShape& shape, const Machine& machine) {
  const auto& op = std::get<ir::Interaction>(shape);
  const bool backward = op.pass != ir::Pass::kForward;
  const auto batch = static_cast<double>(op.batch);
  const auto features = static_cast<double>(op.features);
  const auto dim = static_cast<double>(op.dim);
  const double peak = machine.peak_gemm_rate(op.dtype);
  const bool on_lanes = peak <= machine.vector_rate();
  const double padded = RoundUp(features, on_lanes ? kVectorTile : kMatrixTile);
  const double products = backward ? 2 : 1;
  const double vectors = batch * features * dim;
  const double results = batch * (dim + features * (features - 1) / 2);
  const double bytes =
      ((backward ? 2 : 1) * vectors + results) * ElementBytes(op.dtype);
  const double tiles_us = products * 2 * batch * padded * padded * dim /
                          machine.batched_gemm_rate(op.dtype);
  return ProductBase(
      {.bytes = bytes,
       .compute_us = on_lanes && !backward ? PairsUs(op, machine) : tiles_us},
      products * 2 * batch * features * features * dim, peak, machine);
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
  const double rate =
      peak * (backward ? kAttentionBackwardShare : kAttentionForwardShare);
  const double compute_us =
      TilesUs({.heads = heads, .queries = queries, .keys = keys, .dim = dim},
              products, rate, machine);
  return ProductBase({.bytes = bytes, .compute_us = compute_us},
                     products * 2 * heads * queries * keys * dim, peak,
                     machine);
}

}  // namespace stepcast::cost
