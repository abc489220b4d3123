// Predictions of steps from model files, in one process.
#include <string>

#include <benchmark/benchmark.h>

#include "base/check.h"
#include "engine/predictor.h"
#include "workload/model_files.h"

namespace stepcast {
namespace {

engine::Request RequestOf(const char* model, const char* gpu) {
  engine::Request request;
  auto found = workload::FindModel(model);
  CHECK(found) << found.error().message;
  request.model = *std::move(found);
  request.gpu = gpu;
  return request;
}

void Run(benchmark::State& state, const engine::Request& request,
         const engine::PredictOptions& options) {
  engine::Predictor predictor;
  for (auto step : state) {
    const auto predicted = predictor.Predict(request, options);
    CHECK(predicted) << predicted.error().message;
    benchmark::DoNotOptimize(predicted->result.step);
  }
  state.SetItemsProcessed(state.iterations());
}

void Point(benchmark::State& state) {
  Run(state, RequestOf("dlrm_mlperf", "a100-sxm-80gb"), {});
}
BENCHMARK(Point)->Unit(benchmark::kMicrosecond);

void WithInterval(benchmark::State& state) {
  Run(state, RequestOf("dlrm_mlperf", "a100-sxm-80gb"), {.samples = 100});
}
BENCHMARK(WithInterval)->Unit(benchmark::kMicrosecond);

void EightGpus(benchmark::State& state) {
  engine::Request request = RequestOf("mlperf_dlrm_dcnv2", "h100-sxm-80gb");
  request.settings.impl = "torchrec";
  request.gpus = 8;
  Run(state, request, {});
}
BENCHMARK(EightGpus)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace stepcast

BENCHMARK_MAIN();
