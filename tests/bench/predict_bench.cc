// Predictions of steps from model files, in one process.
#include <string>

#include <benchmark/benchmark.h>

#include "base/check.h"
#include "engine/run/predict_model.h"
#include "model/frameworks/implementations.h"
#include "model/read_model.h"
#include "scenario/resolve.h"

namespace stepcast {
namespace {

scenario::Job JobOf(const char* model, const char* gpu) {
  scenario::Job job;
  auto found = model::FindModel(model);
  CHECK(found) << found.error().message;
  job.request.model = *std::move(found);
  job.names.machine.gpu = gpu;
  return job;
}

void Run(benchmark::State& state, scenario::Job job,
         const engine::PredictOptions& options) {
  scenario::Resolver resolver;
  for (auto step : state) {
    CHECK(resolver.Bind(job));
    CHECK(resolver.Load(job.request.machine));
    const auto predicted = engine::PredictModel(job.request, options);
    CHECK(predicted) << predicted.error().message;
    benchmark::DoNotOptimize(predicted->result.step);
  }
  state.SetItemsProcessed(state.iterations());
}

void Point(benchmark::State& state) {
  Run(state, JobOf("dlrm_mlperf", "a100-sxm-80gb"), {});
}
BENCHMARK(Point)->Unit(benchmark::kMicrosecond);

void WithInterval(benchmark::State& state) {
  Run(state, JobOf("dlrm_mlperf", "a100-sxm-80gb"), {.samples = 100});
}
BENCHMARK(WithInterval)->Unit(benchmark::kMicrosecond);

void EightGpus(benchmark::State& state) {
  scenario::Job job = JobOf("mlperf_dlrm_dcnv2", "h100-sxm-80gb");
  job.request.settings.impl = *model::FindImplementation("torchrec");
  job.names.machine.gpus = 8;
  Run(state, job, {});
}
BENCHMARK(EightGpus)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace stepcast

BENCHMARK_MAIN();
