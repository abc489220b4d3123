#include "view/reports/model_report.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text/join.h"
#include "base/units.h"
#include "model/frameworks/implementations.h"
#include "model/memory.h"
#include "model/settings.h"

namespace stepcast::view {
namespace {

MemoryUse MemoryOf(const engine::ModelPrediction& predicted) {
  MemoryUse memory;
  memory.hbm_bytes = predicted.memory.total();
  memory.hbm_capacity_bytes = predicted.memory_capacity;
  memory.host_bytes = predicted.host_bytes;
  memory.host_capacity_bytes = predicted.host_capacity;
  for (const model::MemoryPart& part : predicted.memory.parts) {
    memory.parts.emplace_back(part.name, part.bytes);
  }
  return memory;
}

std::string NoteOnFit(const engine::Request& request,
                      const engine::ModelPrediction& predicted) {
  model::Settings settings = request.settings;
  settings.batch = predicted.batch;
  const bool on_server = !request.machine.has_gpus();
  const std::vector<std::string> ways = model::WaysToFit(
      predicted.memory, predicted.memory_capacity, settings,
      {.bytes = model::TableBytes(request.model, settings),
       .ranks = request.machine.ranks,
       .elsewhere = settings.impl->placements && !on_server &&
                    request.model.kind == model::ModelKind::kDlrm});
  return fmt::format(
      "{:.2f} GB too much for a {}{}{}",
      (predicted.memory.total() - predicted.memory_capacity) / kGiga,
      on_server ? "process" : "GPU", ways.empty() ? "" : "; would fit with ",
      Join(ways, ", or "));
}

}  // namespace

PredictionReport ReportModel(const engine::Request& request,
                             const engine::ModelPrediction& predicted,
                             const engine::StepResult& result,
                             const sim::TaskTimes* times) {
  PredictionReport report = ReportPrediction(
      result,
      {.workload = request.model.name,
       .platform = request.machine.platform,
       .gpu = request.machine.gpu,
       .server = !request.machine.has_gpus(),
       .num_gpus = request.machine.ranks,
       .batch_per_gpu = predicted.batch,
       .precision = std::string(model::Name(request.settings.precision)),
       .mode = std::string(model::Name(request.settings.mode)),
       .impl = std::string(request.settings.impl->name),
       .overheads = request.overheads.name,
       .window = "steady step"},
      times);
  report.memory = MemoryOf(predicted);
  report.UseStep(report.step);
  report.power_w = predicted.power_w;
  report.samples_per_joule =
      predicted.power_w > 0 ? report.samples_per_s / predicted.power_w : 0;
  if (!report.memory->fits_device()) {
    report.notes.push_back(NoteOnFit(request, predicted));
  }
  report.notes.insert(report.notes.end(), predicted.notes.begin(),
                      predicted.notes.end());
  return report;
}

}  // namespace stepcast::view
