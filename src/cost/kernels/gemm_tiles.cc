#include "cost/kernels/gemm_tiles.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace stepcast::cost {
namespace {

struct Extent {
  double n = 0;
  double m = 0;
};

// Warps of a vector-lane tile: 64 results for each thread. Small tiles slice
// the contraction over four warps ("sliced1x4" in the kernels' names).
constexpr double VectorWarps(Extent tile) {
  const double results = tile.n * tile.m;
  return results > 2048 ? results / 2048 : 4;
}
// The number of warps that fills an SM.
constexpr double kFullWarps = 8;
// Results of a matrix-unit tile that fills an SM.
constexpr double kFullResults = 128 * 128;

constexpr double Log2(double power_of_two) {
  return std::countr_zero(static_cast<uint64_t>(power_of_two));
}

template <size_t kSize>
constexpr std::array<GemmTile, kSize> Tiles(
    bool matrix_units, const std::array<Extent, kSize>& extents) {
  std::array<GemmTile, kSize> tiles{};
  double least = 1;
  for (const Extent& extent : extents) {
    least = std::min(least, 1 / extent.n + 1 / extent.m);
  }
  for (size_t i = 0; i < kSize; ++i) {
    const Extent extent = extents[i];
    tiles[i] = {
        .n = extent.n,
        .m = extent.m,
        .reread = 1 / extent.n + 1 / extent.m - least,
        .lone = matrix_units
                    ? std::max(0.0, kFullResults / extent.n / extent.m - 1)
                    : kFullWarps / VectorWarps(extent) - 1,
        .log2_results = Log2(extent.n * extent.m)};
  }
  return tiles;
}

// From the kernel names of the measured rows: linear layers and bmm in FP32 on
// P4, P100, V100, T4 and A100.
constexpr std::array kVector =
    Tiles(false, std::array{Extent{128, 128}, Extent{128, 64}, Extent{64, 64},
                            Extent{128, 32}, Extent{32, 128}, Extent{64, 32},
                            Extent{32, 32}});
constexpr std::array kPascal =
    Tiles(false, std::array{Extent{64, 64}, Extent{32, 128}, Extent{128, 32}});
constexpr std::array kPascalBatched = Tiles(false, std::array{Extent{128, 64}});
constexpr std::array kVoltaBatched =
    Tiles(false, std::array{Extent{64, 64}, Extent{32, 128}, Extent{128, 32}});
constexpr std::array kTuringBatched =
    Tiles(false, std::array{Extent{64, 64}, Extent{128, 64}, Extent{128, 32},
                            Extent{32, 128}});
constexpr std::array kAmpereBatched =
    Tiles(false, std::array{Extent{128, 128}});
// The sizes that CUTLASS and cuBLAS offer for matrix units; no row says which
// was used.
constexpr std::array kMatrix =
    Tiles(true, std::array{Extent{128, 256}, Extent{256, 128}, Extent{128, 128},
                           Extent{128, 64}, Extent{64, 128}, Extent{64, 64},
                           Extent{128, 32}, Extent{64, 32}});

constexpr std::array kVectorFeatures =
    Tiles(false, std::array{Extent{128, 128}, Extent{128, 64}, Extent{64, 64},
                            Extent{128, 32}, Extent{32, 128}, Extent{32, 32}});
constexpr std::array kMatrixFeatures =
    Tiles(true, std::array{Extent{256, 128}, Extent{128, 128}, Extent{128, 64},
                           Extent{64, 64}, Extent{64, 128}, Extent{128, 32}});

}  // namespace

bool OnMatrixUnits(ir::DType dtype, const Machine& machine) {
  return machine.device.generation != hw::Generation::kPascal &&
         machine.peak_gemm_rate(dtype) > machine.vector_rate();
}

std::span<const GemmTile> GemmTiles(bool matrix_units, bool batched,
                                    hw::Generation generation) {
  if (matrix_units) {
    return kMatrix;
  }
  switch (generation) {
    case hw::Generation::kPascal:
      return batched ? std::span<const GemmTile>(kPascalBatched) : kPascal;
    case hw::Generation::kVolta:
      return batched ? std::span<const GemmTile>(kVoltaBatched) : kVector;
    case hw::Generation::kTuring:
      return batched ? std::span<const GemmTile>(kTuringBatched) : kVector;
    default:
      return batched ? std::span<const GemmTile>(kAmpereBatched) : kVector;
  }
}

std::span<const GemmTile> GemmFeatureTiles(bool matrix_units) {
  return matrix_units ? std::span<const GemmTile>(kMatrixFeatures)
                      : kVectorFeatures;
}

double TilesPerSm(double batch, double m, double n, const GemmTile& tile,
                  double sms) {
  return batch * std::ceil(n / tile.n) * std::ceil(m / tile.m) / sms;
}

double GemmSms(const Machine& machine) {
  const hw::Device& device = machine.device;
  const bool two_halves = device.generation == hw::Generation::kPascal &&
                          device.fp32_lanes_per_sm >= 128;
  return device.sm_count * (two_halves ? 2 : 1);
}

}  // namespace stepcast::cost
