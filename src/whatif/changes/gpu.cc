// gpu: every rank runs on another GPU.
#include <optional>
#include <vector>

#include "hw/gpu_files.h"
#include "whatif/changes/all.h"

namespace stepcast::whatif {

Status SetGpu(const Change& change, engine::Request& request) {
  ASSIGN_OR_RETURN(const hw::Device device, hw::FindDevice(change.value));
  request.gpu = change.value;
  // A step on processors moves.
  request.server.clear();
  request.runtime.clear();
  return {};
}

// A work takes its time multiplied with what models make of its shape on both
// GPUs; without a model with the ratio of their bandwidths. Collectives and the
// host's time stay.
Status EditGpu(const Change& change, StepEditor& editor) {
  ASSIGN_OR_RETURN(const cost::KernelModels* from, editor.Models());
  ASSIGN_OR_RETURN(const cost::KernelModels* to,
                   editor.predictor().Models(change.value));
  editor.place().gpu = change.value;
  const ir::GraphData& data = editor.data();
  std::vector<std::optional<cost::Estimate>> before(data.shapes.size());
  std::vector<std::optional<cost::Estimate>> after(data.shapes.size());
  from->PriceAll(data.shapes.items(), before);
  to->PriceAll(data.shapes.items(), after);
  const double bandwidth =
      from->machine().copy_rate() / to->machine().copy_rate();
  for (const ir::WorkId id : data.works.ids()) {
    const ir::Work& work = data.works[id];
    if (work.kind == ir::WorkKind::kCollective) {
      continue;
    }
    const size_t shape = work.shape.value;
    if (before[shape] && after[shape]) {
      editor.Reprice(id, *before[shape], *after[shape]);
    } else {
      editor.RepriceRoughly(id, bandwidth);
    }
  }
  return {};
}

}  // namespace stepcast::whatif
