// gpu: every rank runs on another GPU.
#include <vector>

#include "scenario/find_machine.h"
#include "scenario/resolve.h"
#include "whatif/changes/all.h"

namespace stepcast::whatif {

// A work takes its time multiplied with what models make of it on both GPUs;
// without a model with the ratio of their bandwidths. Collectives and the
// host's time stay.
Status EditGpu(const Change& change, StepEditor& editor) {
  ASSIGN_OR_RETURN(editor.machine().device, scenario::FindGpu(change.value));
  editor.machine().gpu = change.value;
  RETURN_IF_ERROR(
      Named(change, scenario::CheckRecordedGpu(*editor.machine().device)));
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
