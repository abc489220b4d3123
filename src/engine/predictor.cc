#include "engine/predictor.h"

#include <utility>

#include <fmt/format.h>

#include "cost/overheads/overhead_files.h"
#include "hw/gpu_files.h"
#include "workload/build_graph.h"

namespace stepcast::engine {
namespace {

// Published steps of one model and GPU differ by 3-10 % from server to server
// and by 2-15 % from release to release; what a model file does not say of an
// implementation adds to that. Chosen so that about 80 % of the published steps
// lie between p10 and p90 (`stepcast eval steps`): no step was kept back.
constexpr double kSystemSpread = 0.12;

// Where an implementation has a set of its own.
struct OwnOverheads {
  std::string_view impl;
  std::string_view overheads;
};
constexpr OwnOverheads kOwnOverheads[] = {
    {"pytorch", "v100-hipc-2022"}, {"pytorch-bags", "v100-hipc-2022"},
    {"nvidia", "nvidia-pytorch"},  {"hugectr", "nvidia-pytorch"},
    {"tensorflow", "tensorflow"},  {"tensorflow-xla", "tensorflow"},
    {"triton", "triton"},          {"triton-tensorrt", "triton"},
    {"triton-hps", "triton"},
};

}  // namespace

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
  PredictOptions how = options;
  how.system_spread = kSystemSpread;
  ASSIGN_OR_RETURN(
      Prediction prediction,
      engine::Predict(
          {.graph = &graph, .models = models, .overheads = overheads}, how));
  workload::Memory memory = workload::MemoryOf(request.model, settings, graph);
  constexpr double kGiga = 1e9;
  return ModelPrediction{
      .graph = std::move(graph),
      .prediction = std::move(prediction),
      .memory = std::move(memory),
      .memory_capacity = models->machine().device.dram_gb * kGiga,
      .overheads = name};
}

std::string_view DefaultOverheads(std::string_view impl) {
  for (const OwnOverheads& own : kOwnOverheads) {
    if (own.impl == impl) {
      return own.overheads;
    }
  }
  return cost::kSharedOverheads;
}

}  // namespace stepcast::engine
