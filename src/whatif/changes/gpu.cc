// gpu: every rank runs on another GPU.
#include <vector>

#include "scenario/resolve.h"
#include "whatif/changes/all.h"

namespace stepcast::whatif {

// A work takes its time multiplied with what models make of it on both GPUs;
// without a model with the ratio of their bandwidths. Collectives and the
// host's time stay.
Status EditGpu(const Change& change, StepEditor& editor) {
  RETURN_IF_ERROR(Named(change, scenario::CheckRecordedGpu(change.value)));
  editor.place().gpu = change.value;
  const ir::GraphData& data = editor.data();
  std::vector<ir::WorkId> works;
  works.reserve(data.works.size());
  for (const ir::WorkId id : data.works.ids()) {
    if (data.works[id].kind != ir::WorkKind::kCollective) {
      works.push_back(id);
    }
  }
  return editor.Reprice(works).map([](size_t /*priced*/) {});
}

}  // namespace stepcast::whatif
