#include <algorithm>
#include <array>
#include <cmath>
#include <variant>

#include "cost/kernels/bandwidth.h"
#include "cost/kernels/convolution_size.h"
#include "cost/kernels/cpu_kernels.h"
#include "cost/kernels/families.h"

namespace stepcast::cost {
namespace {

// Output tiles of cuDNN's GEMM kernels, and the share of the largest ones' rate
// that they reach.
struct Tile {
  double m = 0;
  double n = 0;
  double share = 1;
};
constexpr std::array kTiles = {Tile{128, 128, 1.0}, Tile{128, 64, 1.0},
                               Tile{64, 64, 0.9}, Tile{128, 32, 0.9},
                               Tile{32, 32, 0.65}};
// Steps along k that a tile spends on filling and draining its pipeline.
constexpr double kDirectPrologue = 32;
constexpr double kWinogradPrologue = 8;
// A product with few tiles and a long k is split along k, into chunks of at
// least this length.
constexpr double kSplitLength = 256;
// 1 / x * x may be a little more than 1.
constexpr double kRounding = 1e-9;
// The fused kernel's block: 32 tiles of 2x2 outputs by 32 channels.
constexpr double kFusedTiles = 32;
constexpr double kFusedChannels = 32;
// How its 32 tiles are arranged: images x rows x columns ("tile148", "tile442",
// ...); from Volta on only the first two are in use.
struct Layout {
  double images = 1;
  double rows = 1;
  double columns = 1;
};
constexpr std::array kLayouts = {Layout{1, 4, 8}, Layout{4, 4, 2},
                                 Layout{2, 4, 4}, Layout{2, 2, 8},
                                 Layout{4, 1, 8}, Layout{4, 2, 4}};
constexpr size_t kLayoutsSinceVolta = 2;
// Arithmetic and traffic overlap as in other tiled kernels.
constexpr double kConvolutionOverlap = 3;
// Launches: offsets or tiles first, then the kernel; the non-fused algorithm
// transforms input and weights, multiplies, transforms the output.
constexpr double kDirectLatencies = 2;
constexpr double kNonFusedLatencies = 4;

// 16-bit convolutions run on matrix units, whose kernels want channels
// innermost: input, weights and output are turned around in kernels of their
// own, at so much of a copy's rate. MIOpen also clears and casts its workspace.
// Windows of one element without a stride need none of it. 11 shapes on H100,
// 68 on MI300X.
constexpr double kLayoutLatencies = 3;
constexpr double kCdnaLayoutLatencies = 6;
constexpr double kLayoutShare = 0.6;
// What the matrix units reach in a convolution, as a share of large products.
constexpr double kMatrixShare = 0.3;
constexpr double kCdnaMatrixShare = 0.75;
// They take channels by the eight; other numbers are left to the vector units.
constexpr double kMatrixChannels = 8;

bool BeatsVectorUnits(ir::DType dtype, const Machine& machine) {
  return machine.peak_gemm_rate(dtype) > machine.vector_rate();
}

double Waves(const Product& product, double m, double n,
             const Machine& machine) {
  return std::ceil(product.m / m) * std::ceil(product.n / n) * product.batch /
         machine.sm_count();
}

// Multiplications a microsecond of one SM at a share of the datasheet peak.
double SmRate(double peak_flops, double share, const Machine& machine) {
  return peak_flops / 2 * std::min(share, 1.0) / machine.sm_count();
}

double ProductUs(const Product& product, double prologue, double sm_rate,
                 const Machine& machine) {
  double best = 0;
  for (const Tile& tile : kTiles) {
    const double waves = Waves(product, tile.m, tile.n, machine);
    const double parts =
        std::clamp(1.0 / waves, 1.0, std::max(1.0, product.k / kSplitLength));
    const double time = std::ceil(waves * parts - kRounding) * tile.m * tile.n *
                        (product.k / parts + prologue) / (sm_rate * tile.share);
    best = best > 0 ? std::min(best, time) : time;
  }
  return best;
}

// Tiles of 2x2 outputs, padded to whole blocks.
double LaidOutTiles(const ConvolutionSize& size, const Layout& layout) {
  return RoundUp(size.batch, layout.images) *
         RoundUp(std::ceil(size.height / 2), layout.rows) *
         RoundUp(std::ceil(size.width / 2), layout.columns);
}

double FusedTiles(const ConvolutionSize& size, const Machine& machine) {
  const bool pascal = machine.device.generation == hw::Generation::kPascal;
  const size_t count = pascal ? kLayouts.size() : kLayoutsSinceVolta;
  double best = LaidOutTiles(size, kLayouts[0]);
  for (size_t i = 1; i < count; ++i) {
    best = std::min(best, LaidOutTiles(size, kLayouts[i]));
  }
  return best;
}

struct Algorithms {
  double direct_us = 0;
  double fused_us = 0;      // 0: cannot be used.
  double non_fused_us = 0;  // 0: cannot be used.
  double memory_us = 0;
  double compute_us = 0;  // Of the best one, without memory and launches.
  double best_us = 0;
  double multiplications = 0;  // The fewest of those that can be used.
};

double FusedUs(const ConvolutionSize& size, double sm_rate,
               const Machine& machine) {
  const double blocks = FusedTiles(size, machine) / kFusedTiles *
                        std::ceil(size.out_channels / kFusedChannels);
  return std::ceil(blocks / machine.sm_count()) * kFusedTiles * kFusedChannels *
         16 * (size.in_channels + kWinogradPrologue) / sm_rate;
}

// Winograd with tiles of 4x4 outputs: 36 products, whose operands are written
// and read through memory.
double NonFusedUs(const ConvolutionSize& size, double sm_rate,
                  const Machine& machine) {
  const double tiles = size.Tiles(4);
  const double in = tiles * size.in_channels;
  const double out = tiles * size.out_channels;
  const double weights = size.in_channels * size.out_channels;
  const double products = Overlap(
      ProductUs(size.Winograd(4), kWinogradPrologue, sm_rate, machine),
      StreamUs(4 * 36 * (in + out + weights), machine), kConvolutionOverlap);
  const double tensors =
      size.positions() * (size.in_channels + size.out_channels);
  return products +
         machine[Constant::kConvTransformPasses] *
             StreamUs(4 * (tensors + 36 * (in + out)), machine) +
         machine[Constant::kConvFilterPasses] *
             StreamUs(4 * (9 + 36) * weights, machine);
}

// FLOP a microsecond: the peak of the units that work, and what they sustain.
struct Rate {
  double peak = 0;
  double share = 0;
};

Rate RateOf(const ConvolutionSize& size, ir::DType dtype,
            const Machine& machine) {
  const double peak = machine.peak_gemm_rate(dtype);
  const double share = machine.convolution_rate(dtype) / peak;
  if (!BeatsVectorUnits(dtype, machine) || size.product) {
    return {.peak = peak, .share = share};
  }
  if (IsCdna(machine)) {
    return {.peak = peak, .share = share * kCdnaMatrixShare};
  }
  if (std::fmod(size.in_channels, kMatrixChannels) != 0) {
    return {.peak = machine.vector_rate(),
            .share = machine.device.conv_fp32_share};
  }
  return {.peak = peak, .share = share * kMatrixShare};
}

// Turning tensors around for the matrix units.
double LayoutUs(const ConvolutionSize& size, ir::DType dtype,
                const Machine& machine) {
  if (!BeatsVectorUnits(dtype, machine) || size.product) {
    return 0;
  }
  const double latencies =
      IsCdna(machine) ? kCdnaLayoutLatencies : kLayoutLatencies;
  return latencies * LatencyUs(machine) +
         StreamUs(2 * size.io_bytes / kLayoutShare, 2 * size.io_bytes, machine);
}

Algorithms Price(const ConvolutionSize& size, ir::DType dtype,
                 const Machine& machine) {
  const Rate units = RateOf(size, dtype, machine);
  const double latency = LatencyUs(machine);
  const auto rate = [&](Constant efficiency) {
    return SmRate(units.peak, units.share * machine[efficiency], machine);
  };
  Algorithms a;
  a.memory_us = StreamUs(size.io_bytes, machine);
  a.compute_us = ProductUs(size.Direct(), kDirectPrologue,
                           rate(Constant::kConvDirectShare), machine);
  a.direct_us = kDirectLatencies * latency +
                Overlap(a.compute_us, a.memory_us, kConvolutionOverlap) +
                LayoutUs(size, dtype, machine);
  a.best_us = a.direct_us;
  a.multiplications = size.Direct().multiplications();
  if (!size.winograd) {
    return a;
  }
  const double products =
      NonFusedUs(size, rate(Constant::kConvNonFusedShare), machine);
  a.non_fused_us = kNonFusedLatencies * latency + products;
  if (a.non_fused_us < a.best_us) {
    a.best_us = a.non_fused_us;
    a.compute_us = products;
  }
  // 36 products for 16 outputs instead of 144, were there no padding.
  a.multiplications /= 4;
  if (!size.weight_gradient) {
    const double fused =
        FusedUs(size, rate(Constant::kConvFusedShare), machine);
    a.fused_us = kDirectLatencies * latency +
                 Overlap(fused, a.memory_us, kConvolutionOverlap);
    if (a.fused_us < a.best_us) {
      a.best_us = a.fused_us;
      a.compute_us = fused;
    }
  }
  return a;
}

Base OnePass(const ir::Convolution& op, ir::Pass pass, const Machine& machine) {
  const ConvolutionSize size = SizeOfConvolution(op, pass);
  if (IsCpu(machine)) {
    return CpuBase({.flops = 2 * size.Direct().multiplications(),
                    .rate = machine.convolution_rate(op.dtype),
                    .peak = machine.peak_gemm_rate(op.dtype),
                    .bytes = size.io_bytes},
                   machine);
  }
  const Algorithms a = Price(size, op.dtype, machine);
  const double compute_roofline =
      2 * a.multiplications / machine.peak_gemm_rate(op.dtype);
  const bool compute = a.compute_us >= a.memory_us;
  return {.time_us = a.best_us,
          .compute_us = a.compute_us,
          .memory_us = a.memory_us,
          .roofline_us =
              std::max(compute_roofline,
                       StreamRooflineUs(size.io_bytes, size.io_bytes, machine)),
          .bound = compute ? Bound::kCompute : Bound::kDram,
          .flops = 2 * size.Direct().multiplications(),
          .bytes = size.io_bytes};
}

void AddWaves(const Product& product, const Machine& machine,
              FeatureVector& features) {
  for (size_t i = 0; i + 1 < kTiles.size(); ++i) {
    const double waves = Waves(product, kTiles[i].m, kTiles[i].n, machine);
    features.AddLog(waves);
    features.Add(waves / std::ceil(waves));
  }
}

// How far a count is a multiple of 4.
double Alignment(double count) {
  return std::fmod(count, 4) == 0 ? 2 : std::fmod(count, 2) == 0 ? 1 : 0;
}

}  // namespace

Base ConvolutionBase(const ir::KernelShape& shape, const Machine& machine) {
  const auto& op = std::get<ir::Convolution>(shape);
  if (op.pass != ir::Pass::kBackward) {
    return OnePass(op, op.pass, machine);
  }
  Base sum = OnePass(op, ir::Pass::kBackwardData, machine);
  const Base weights = OnePass(op, ir::Pass::kBackwardWeight, machine);
  sum.time_us += weights.time_us;
  sum.compute_us += weights.compute_us;
  sum.memory_us += weights.memory_us;
  sum.roofline_us += weights.roofline_us;
  sum.flops += weights.flops;
  sum.bytes += weights.bytes;
  return sum;
}

void ConvolutionFeatures(const ir::KernelShape& shape, const Machine& machine,
                         const Base& base, FeatureVector& features) {
  const auto& op = std::get<ir::Convolution>(shape);
  const bool both = op.pass == ir::Pass::kBackward;
  const ConvolutionSize size =
      SizeOfConvolution(op, both ? ir::Pass::kBackwardData : op.pass);
  const Algorithms a = Price(size, op.dtype, machine);
  const double channels = size.out_channels;
  features.AddLog(size.batch);
  features.AddLog(size.in_channels);
  features.AddLog(channels);
  features.AddLog(size.height);
  features.AddLog(size.positions() / machine.sm_count());
  features.AddLog(base.time_us);
  for (const double time :
       {a.direct_us, a.fused_us, a.non_fused_us, a.memory_us}) {
    features.AddLog(time / a.best_us);
  }
  const double fused = FusedTiles(size, machine);
  for (size_t i = 0; i < kLayoutsSinceVolta; ++i) {
    features.AddLog(LaidOutTiles(size, kLayouts[i]) * 4 / size.positions());
  }
  features.AddLog(size.TilePadding(4));
  for (const double unit : {32.0, 64.0, 128.0}) {
    features.Add(RoundUp(channels, unit) / channels);
  }
  features.Add(RoundUp(size.in_channels, 8) / size.in_channels);
  const double waves = fused / kFusedTiles *
                       std::ceil(channels / kFusedChannels) /
                       machine.sm_count();
  features.AddLog(waves);
  features.Add(waves / std::ceil(waves));
  AddWaves(size.Direct(), machine, features);
  AddWaves(size.Winograd(4), machine, features);
  features.Add(Alignment(size.in_channels));
  features.Add(Alignment(channels));
  for (const double unit : {4.0, 8.0, 16.0}) {
    features.Add(std::fmod(size.height, unit));
  }
  features.AddLog(size.in_channels * channels / machine.l2_bytes());
  features.Add(size.window);
  features.Add(static_cast<double>(op.stride));
  features.Add(static_cast<double>(op.pass));
}

}  // namespace stepcast::cost
