// Studies: many predictions in one process, on all cores.
#include <string>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "base/check.h"
#include "explore/read_study.h"
#include "explore/run_study.h"

namespace stepcast::explore {
namespace {

// Scenarios of one GPU, spread over what decides their time.
std::string StudyText(int64_t rows) {
  return fmt::format(R"(
models = ["dlrm_mlperf", "dlrm_default"]
[base]
gpu = "a100-sxm-80gb"
[design]
method = "latin-hypercube"
points = {}
[vary]
batch = {{ from = 256, to = 16384, scale = "log" }}
mlp_width = {{ from = 64, to = 2048, scale = "log" }}
dim = [32, 64, 128]
pooling = {{ from = 1, to = 64, scale = "log" }}
)",
                     rows);
}

void Explore(benchmark::State& state, uint32_t samples) {
  auto study = ParseStudy(StudyText(state.range(0)), "study.toml");
  CHECK(study) << study.error().message;
  study->samples = samples;
  for (auto step : state) {
    const auto checked = CheckRows(*study);
    CHECK(checked) << checked.error().message;
    const auto rows =
        RunStudy(*study, {.threads = static_cast<size_t>(state.range(1))});
    CHECK(rows) << rows.error().message;
    benchmark::DoNotOptimize(rows->size());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void OneGpu(benchmark::State& state) {
  Explore(state, 0);
}
BENCHMARK(OneGpu)
    ->Args({10000, 2})
    ->Iterations(1)
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kSecond);

void OneGpuWithInterval(benchmark::State& state) {
  Explore(state, 20);
}
BENCHMARK(OneGpuWithInterval)
    ->Args({10000, 2})
    ->Iterations(1)
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kSecond);

}  // namespace
}  // namespace stepcast::explore

BENCHMARK_MAIN();
