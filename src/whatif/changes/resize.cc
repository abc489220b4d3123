// resize-tables: a model with larger tables.
#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/text/nearest.h"
#include "scenario/find_machine.h"
#include "scenario/resolve.h"
#include "whatif/changes/all.h"

namespace stepcast::whatif {

// gpu: every rank runs on another GPU.

// An activity takes its time multiplied with what models make of it on both
// GPUs; without a model with the ratio of their bandwidths. Collectives and the
// host's time stay.
Status EditGpu(const Change& change, StepEditor& editor) {
  ASSIGN_OR_RETURN(editor.machine().device, scenario::FindGpu(change.value));
  editor.machine().gpu = change.value;
  RETURN_IF_ERROR(
      Named(change, scenario::CheckRecordedGpu(*editor.machine().device)));
  const ir::GraphData& data = editor.data();
  std::vector<ir::ActivityId> activities;
  activities.reserve(data.activities.size());
  for (const ir::ActivityId id : data.activities.ids()) {
    if (data.activities[id].kind != ir::ActivityKind::kCollective) {
      activities.push_back(id);
    }
  }
  return editor.Reprice(activities).map([](size_t /*priced*/) {});
}

Status SetTableSize(const Change& change, scenario::Job& job) {
  ASSIGN_OR_RETURN(const NamedFactor named, ParseNamedFactor(change));
  constexpr std::string_view kWhat[] = {"rows", "dim", "pooling"};
  const std::string_view what = named.name.empty() ? kWhat[0] : named.name;
  if (std::ranges::find(kWhat, what) == std::end(kWhat)) {
    return Fail(ErrorCode::kInvalidInput,
                Unknown("size of tables", what, kWhat));
  }
  return SetNamed(change, fmt::format("{}-factor", what),
                  fmt::format("{}", named.factor), job);
}

}  // namespace stepcast::whatif
