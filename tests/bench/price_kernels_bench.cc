// How many distinct kernels are priced a second on one core, with intervals.
#include <cmath>
#include <optional>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/check.h"
#include "base/rng.h"
#include "cost/kernel_models.h"
#include "hw/device.h"

namespace stepcast {
namespace {

constexpr size_t kShapes = 20'000;

cost::KernelModels Load(const char* gpu) {
  return cost::KernelModels::Load(hw::FindDevice(gpu).value(),
                                  cost::ProfileStore())
      .value();
}

// Sizes spread evenly over their logarithm, as in real sweeps.
std::vector<ir::KernelShape> RandomProducts(ir::DType dtype, bool batched) {
  Rng rng(1);
  const auto size = [&](int64_t most) {
    const auto bits = static_cast<double>(rng.Below(1 << 20)) / (1 << 20);
    return 1 + static_cast<int64_t>(std::pow(static_cast<double>(most), bits));
  };
  std::vector<ir::KernelShape> shapes;
  for (size_t i = 0; i < kShapes; ++i) {
    shapes.emplace_back(ir::Gemm{.batch = batched ? 1 + size(1000) : 1,
                                 .m = size(8192),
                                 .n = size(8192),
                                 .k = size(8192),
                                 .dtype = dtype});
  }
  return shapes;
}

void Price(benchmark::State& state, const char* gpu, ir::DType dtype,
           bool batched) {
  const cost::KernelModels models = Load(gpu);
  const auto shapes = RandomProducts(dtype, batched);
  std::vector<std::optional<cost::Estimate>> estimates(shapes.size());
  for (auto iteration : state) {
    models.PriceAll(shapes, estimates);
    benchmark::DoNotOptimize(estimates.data());
  }
  CHECK(estimates.front().has_value());
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kShapes));
}

void PriceOneByOne(benchmark::State& state) {
  const cost::KernelModels models = Load("v100-pcie-32gb");
  const auto shapes = RandomProducts(ir::DType::kFp32, false);
  size_t next = 0;
  for (auto iteration : state) {
    benchmark::DoNotOptimize(models.Price(shapes[next]));
    next = (next + 1) % shapes.size();
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK_CAPTURE(Price, V100Fp32, "v100-pcie-32gb", ir::DType::kFp32, false);
BENCHMARK_CAPTURE(Price, V100Fp32Batched, "v100-pcie-32gb", ir::DType::kFp32,
                  true);
BENCHMARK_CAPTURE(Price, H100Bf16, "h100-sxm-80gb", ir::DType::kBf16, false);
// A GPU without rows: the formula alone.
BENCHMARK_CAPTURE(Price, TitanXpFp32, "titan-xp", ir::DType::kFp32, false);
BENCHMARK(PriceOneByOne);

}  // namespace
}  // namespace stepcast

BENCHMARK_MAIN();
