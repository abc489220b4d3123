#include "engine/predictor.h"

#include <utility>

#include <fmt/format.h>

#include "cost/overheads/overhead_files.h"
#include "hw/gpu_files.h"
#include "workload/build_graph.h"

namespace stepcast::engine {

Result<const cost::KernelModels*> Predictor::Models(
    std::string_view gpu, double recorder_latency_us) {
  const std::string key = fmt::format("{}+{}", gpu, recorder_latency_us);
  const auto found = models_.find(key);
  if (found != models_.end()) {
    return found->second.get();
  }
  ASSIGN_OR_RETURN(const hw::Device device, hw::FindDevice(gpu));
  ASSIGN_OR_RETURN(cost::KernelModels models,
                   cost::KernelModels::Load(device, store_));
  models.SetLatency(recorder_latency_us);
  auto owned = std::make_unique<cost::KernelModels>(std::move(models));
  return models_.emplace(key, std::move(owned)).first->second.get();
}

Result<const cost::OverheadTable*> Predictor::Overheads(std::string_view name) {
  const auto found = overheads_.find(name);
  if (found != overheads_.end()) {
    return found->second.get();
  }
  ASSIGN_OR_RETURN(cost::OverheadData data, cost::LoadOverheads(name));
  auto owned = std::make_unique<cost::OverheadTable>(std::move(data));
  return overheads_.emplace(std::string(name), std::move(owned))
      .first->second.get();
}

Result<ModelPrediction> Predictor::Predict(const Request& request,
                                           const PredictOptions& options) {
  workload::Settings settings = request.settings;
  settings.batch = settings.batch > 0 ? settings.batch : request.model.batch;
  ASSIGN_OR_RETURN(ir::Graph graph,
                   workload::BuildGraph(request.model, settings));
  ASSIGN_OR_RETURN(const cost::KernelModels* models,
                   Models(request.gpu, request.recorder_latency_us));
  const std::string name = request.overheads.empty()
                               ? std::string(DefaultOverheads(settings.impl))
                               : request.overheads;
  ASSIGN_OR_RETURN(const cost::OverheadTable* overheads, Overheads(name));
  ASSIGN_OR_RETURN(
      Prediction prediction,
      engine::Predict(
          {.graph = &graph, .models = models, .overheads = overheads},
          options));
  workload::Memory memory = workload::MemoryOf(request.model, settings, graph);
  constexpr double kGiga = 1e9;
  return ModelPrediction{
      .graph = std::move(graph),
      .prediction = std::move(prediction),
      .memory = std::move(memory),
      .memory_capacity = models->machine().device.dram_gb * kGiga,
      .overheads = name};
}

std::string_view DefaultOverheads(std::string_view /*impl*/) {
  return cost::kSharedOverheads;
}

}  // namespace stepcast::engine
