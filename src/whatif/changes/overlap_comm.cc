// overlap-comm: nothing waits for collectives any more.
#include <algorithm>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/nearest.h"
#include "ir/names.h"
#include "ir/waits_of.h"
#include "whatif/changes/all.h"

namespace stepcast::whatif {

// As if what they bring came with the step before: a prefetched distribution
// of ids, buckets that end in time. They take their time and keep their order.
Status OverlapComm(const Change& change, StepEditor& editor) {
  const ir::GraphData& data = editor.data();
  const auto kind = ir::FromName<ir::CollectiveKind>(change.value);
  if (!change.value.empty() && !kind) {
    return Fail(ErrorCode::kInvalidInput,
                Unknown("kind of collective", change.value,
                        ir::Names<ir::CollectiveKind>::kList));
  }
  const auto matches = [&](ir::WorkId id) {
    const auto* part = std::get_if<ir::Collective>(&editor.graph().shape(id));
    return part != nullptr && (!kind || part->kind == *kind);
  };
  std::vector<char>& kept = editor.times().stream_waits;
  if (kept.empty()) {
    kept.assign(data.stream_waits.size(), 1);
  }
  size_t removed = 0;
  for (size_t i = 0; i < data.stream_waits.size(); ++i) {
    if (matches(data.stream_waits[i].before) &&
        !matches(data.stream_waits[i].after)) {
      kept[i] = 0;
      ++removed;
    }
  }
  for (const ir::ThreadId thread : data.threads.ids()) {
    const auto& pieces = editor.plan().threads[thread];
    for (uint32_t i = 0; i < pieces.size(); ++i) {
      if (!pieces[i].call.valid()) {
        continue;
      }
      const auto waits = ir::WaitsOf(data, pieces[i].call);
      if (!waits.empty() &&
          std::ranges::all_of(waits, [&](const ir::HostWait& wait) {
            return matches(wait.before);
          })) {
        editor.times().pieces[thread][i].waits = false;
        ++removed;
      }
    }
  }
  if (removed == 0) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("change {} does not apply: nothing waits for a "
                            "collective; expected a step of several ranks",
                            change.text));
  }
  editor.Note(
      fmt::format("{} waits for collectives taken out: all of their "
                  "time is hidden",
                  removed));
  editor.MarkBound();
  return {};
}

}  // namespace stepcast::whatif
