#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <variant>

#include "cost/kernels/bandwidth.h"
#include "cost/kernels/cpu_kernels.h"
#include "cost/kernels/families.h"
#include "cost/kernels/gemm_tiles.h"

namespace stepcast::cost {
namespace {

// Products along the contraction that one step of a tile's loop takes.
constexpr double kTileStep = 8;
// A product with a vector is a stream: nothing is reused, and half the rate of
// the lanes goes into sums over a warp.
constexpr double kVectorProductRate = 0.5;
constexpr double kVectorProductTraffic = 1.2;
// Rows of so many columns or rows and more touch every page in reach.
constexpr double kPageRows = 4096;
// How the loss by long rows sets in with their length and number, and the L2 of
// the GPU where its depth was found. P100.
constexpr double kDeepPower = 2.4;
constexpr double kDeepColumnPower = 0.3;
constexpr double kDeepRowPower = 0.5;
constexpr double kDeepL2Mb = 4;
// Cards of so few watts run short kernels at clocks they cannot hold. T4, P4.
constexpr double kBurstWatts = 75;
constexpr double kBurstUs = 2000;

struct Problem {
  double batch = 0;
  double m = 0;
  double n = 0;
  double k = 0;
  bool batched = false;
  bool matrix_units = false;
  bool vector_product = false;
  double element_bytes = 0;

  double flops() const { return 2 * batch * m * n * k; }
  double a_bytes() const { return element_bytes * batch * m * k; }
  double b_bytes() const { return element_bytes * batch * k * n; }
  double c_bytes() const { return element_bytes * batch * m * n; }
  double bytes() const { return a_bytes() + b_bytes() + c_bytes(); }
};

Problem MakeProblem(const ir::KernelShape& shape, const Machine& machine) {
  const auto& gemm = std::get<ir::Gemm>(shape);
  return {.batch = static_cast<double>(std::max<int64_t>(gemm.batch, 1)),
          .m = static_cast<double>(gemm.m),
          .n = static_cast<double>(gemm.n),
          .k = static_cast<double>(gemm.k),
          .batched = gemm.batch > 1,
          .matrix_units = OnMatrixUnits(gemm.dtype, machine),
          .vector_product = gemm.m == 1 || gemm.n == 1 || gemm.k == 1,
          .element_bytes = ElementBytes(gemm.dtype)};
}

// The fitted constants of one kind of unit.
struct Tuning {
  double tile_loss = 0;
  double lone_loss = 0;
  double wave_depth = 0;
  double split_depth = 0;
  double split_us = 0;
  double prologue = 0;
  double traffic = 0;
  double overlap = 0;
  double latency_cycles = 0;
  double footprint = 1;
};

Tuning MakeTuning(bool matrix_units, const Machine& machine) {
  if (matrix_units) {
    return {.tile_loss = machine[Constant::kMatrixTileLoss],
            .lone_loss = machine[Constant::kMatrixLoneLoss],
            .wave_depth = machine[Constant::kMatrixWaveDepth],
            .split_depth = machine[Constant::kMatrixSplitDepth],
            .split_us = machine[Constant::kMatrixSplitUs],
            .prologue = machine[Constant::kMatrixPrologue],
            .traffic = machine[Constant::kMatrixTraffic],
            .overlap = machine[Constant::kMatrixOverlap],
            .latency_cycles = machine[Constant::kMatrixLatencyCycles],
            .footprint = machine[Constant::kMatrixFootprint]};
  }
  return {.tile_loss = machine[Constant::kGemmTileLoss],
          .lone_loss = machine[Constant::kGemmLoneLoss],
          .wave_depth = machine[Constant::kGemmWaveDepth],
          .split_depth = machine[Constant::kGemmSplitDepth],
          .split_us = machine[Constant::kGemmSplitUs],
          .prologue = machine[Constant::kGemmPrologue],
          .traffic = machine[Constant::kGemmTraffic],
          .overlap = machine[Constant::kGemmOverlap],
          .latency_cycles = machine[Constant::kGemmLatencyCycles]};
}

double Cube(double x) {
  return x * x * x;
}

// The time with one kind of tile. `sm_rate` is what one SM sustains. The work
// of a tile is done in whole waves over the SMs, unless the contraction is so
// long that it pays to split it over idle ones.
double TileUs(const Problem& problem, const GemmTile& tile,
              const Tuning& tuning, double sms, double sm_rate,
              double batched_tail) {
  const double waves =
      TilesPerSm(problem.batch, problem.m, problem.n, tile, sms);
  const double depth =
      kTileStep * std::ceil(problem.k / kTileStep) + tuning.prologue;
  const double work = 2 * tile.n * tile.m * depth / sm_rate *
                      (1 + tuning.tile_loss * tile.reread);
  const double idle = std::ceil(waves) - waves;
  const double lone = Cube(1 + tuning.lone_loss * tile.lone) - 1;
  if (problem.batched) {
    // Matrices of a batch are not split: one wave at least.
    const double filled = waves < 1 ? 1 : waves + idle * batched_tail;
    return work * std::cbrt(Cube(filled) + lone);
  }
  const double alone = 1 / (1 + depth / tuning.split_depth);
  const double unsplit =
      waves < 1 ? alone : 1 / (1 + depth / tuning.wave_depth);
  double filled = waves + idle * unsplit;
  if (waves < 1) {
    filled += std::min(1.0, tuning.split_us / work) * idle * (1 - unsplit);
  }
  return work * std::cbrt(Cube(filled) + Cube(alone) * lone);
}

// Long rows, read in steps by many tiles at once, outrun the L2 and the pages
// that are at hand.
double DeepLoss(const Problem& problem, const Machine& machine) {
  if (problem.batched || problem.matrix_units) {
    return 1;
  }
  const bool pascal = machine.device.generation == hw::Generation::kPascal;
  const double depth = machine[Constant::kGemmDeepDepth] *
                       (pascal ? machine.device.l2_mb / kDeepL2Mb : 1);
  const double most =
      machine[pascal ? Constant::kGemmPascalDeepLoss : Constant::kGemmDeepLoss];
  const double x = std::exp2(
      kDeepPower * std::log2(problem.k / depth) +
      kDeepColumnPower * std::log2(std::min(1.0, problem.n / kPageRows)) +
      kDeepRowPower * std::log2(std::min(1.0, problem.m / kPageRows)));
  return 1 + most * x / (1 + x);
}

double ComputeUs(const Problem& problem, const Tuning& tuning, double rate,
                 const Machine& machine) {
  if (problem.vector_product) {
    return problem.flops() / (rate * kVectorProductRate);
  }
  const hw::Generation generation = machine.device.generation;
  const double sms = GemmSms(machine);
  const double tail = machine[Constant::kGemmBatchedTail];
  const double sm_rate = rate / sms;
  double best = std::numeric_limits<double>::infinity();
  for (const GemmTile& tile :
       GemmTiles(problem.matrix_units, problem.batched, generation)) {
    best = std::min(best, TileUs(problem, tile, tuning, sms, sm_rate, tail));
  }
  return best * DeepLoss(problem, machine);
}

double AlignmentLog2(double size, uint64_t most) {
  return std::countr_zero(static_cast<uint64_t>(size) | most);
}

// Matrix units want 16 bytes side by side and no more. Their rows were measured
// on a grid of sizes, where finer alignment only stands for the size itself.
void AddAlignment(const Problem& problem, FeatureVector& features) {
  const uint64_t most = problem.matrix_units ? 8 : 64;
  const double m = AlignmentLog2(problem.m, most);
  const double n = AlignmentLog2(problem.n, most);
  const double k = AlignmentLog2(problem.k, most);
  features.Add(m);
  features.Add(n);
  features.Add(k);
  features.Add(std::min({m, n, k}));
}

void AddRemainders(const Problem& problem, FeatureVector& features) {
  const auto add = [&](double size, int64_t divisor) {
    const int64_t remainder = static_cast<int64_t>(size) % divisor;
    features.Add(problem.matrix_units ? 0 : static_cast<double>(remainder));
  };
  for (const int64_t divisor : {32, 64, 128}) {
    add(problem.m, divisor);
    add(problem.n, divisor);
  }
  add(problem.k, 8);
  add(problem.k, 32);
}

}  // namespace

Base GemmBase(const ir::KernelShape& shape, const Machine& machine) {
  const Problem problem = MakeProblem(shape, machine);
  const ir::DType dtype = std::get<ir::Gemm>(shape).dtype;
  const double rate = problem.batched ? machine.batched_gemm_rate(dtype)
                                      : machine.gemm_rate(dtype);
  if (IsCpu(machine)) {
    return CpuBase({.flops = problem.flops(),
                    .rate = rate,
                    .peak = machine.peak_gemm_rate(dtype),
                    .bytes = problem.bytes()},
                   machine);
  }
  const Tuning tuning = MakeTuning(problem.matrix_units, machine);
  const double latency =
      problem.vector_product
          ? LatencyUs(machine)
          : tuning.latency_cycles / (machine.device.clock_ghz * 1e3);
  const double bytes = problem.bytes();
  const double footprint = bytes * tuning.footprint;
  const double memory =
      (problem.vector_product ? kVectorProductTraffic : tuning.traffic) *
      StreamUs(bytes, footprint, machine);
  double compute = ComputeUs(problem, tuning, rate, machine);
  double work = Overlap(compute, memory, tuning.overlap);
  if (machine.device.tdp_w <= kBurstWatts && !problem.matrix_units) {
    const double held = compute;
    for (int i = 0; i < 2; ++i) {
      compute = held / (1 + machine[Constant::kGemmBurst] /
                                (1 + (latency + work) / kBurstUs));
      work = Overlap(compute, memory, tuning.overlap);
    }
  }
  const double roofline =
      std::max(problem.flops() / machine.peak_gemm_rate(dtype),
               StreamRooflineUs(bytes, footprint, machine));
  Base base{.time_us = std::max(latency + work, roofline),
            .compute_us = compute,
            .memory_us = memory,
            .roofline_us = roofline,
            .flops = problem.flops(),
            .bytes = bytes};
  if (latency > work) {
    base.bound = Bound::kLatency;
  } else if (compute > memory) {
    base.bound = Bound::kCompute;
  } else {
    base.bound =
        CachedShare(footprint, machine) > 0.5 ? Bound::kL2 : Bound::kDram;
  }
  return base;
}

void GemmFeatures(const ir::KernelShape& shape, const Machine& machine,
                  const Base& base, FeatureVector& features) {
  const Problem problem = MakeProblem(shape, machine);
  const double sms = GemmSms(machine);
  const double m = problem.m;
  const double n = problem.n;
  const double k = problem.k;
  features.AddLog(problem.batch);
  features.AddLog(m);
  features.AddLog(n);
  features.AddLog(k);
  const double log_results = std::log2(problem.batch * m * n / sms);
  features.Add(log_results);
  features.AddLog(base.compute_us / base.memory_us);
  features.AddLog(base.time_us);
  features.AddLog(problem.bytes() / machine.l2_bytes());
  features.AddLog(problem.a_bytes() / machine.l2_bytes());
  features.AddLog(problem.b_bytes() / machine.l2_bytes());
  features.AddLog(m / n);
  AddAlignment(problem, features);
  for (const GemmTile& tile : GemmFeatureTiles(problem.matrix_units)) {
    const double waves = TilesPerSm(problem.batch, m, n, tile, sms);
    const double log_waves = std::log2(waves);
    features.Add(log_waves);
    features.AddLog(std::ceil(waves) / waves);
    // What the tiles cover over what is asked for.
    features.Add(log_waves + tile.log2_results - log_results);
  }
  AddRemainders(problem, features);
}

}  // namespace stepcast::cost
