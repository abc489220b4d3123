// remove-sync: the host no longer waits for the device in its calls.
#include <string_view>

#include <fmt/format.h>

#include "base/text/glob.h"
#include "engine/explain/path_parts.h"
#include "ir/graph.h"
#include "whatif/changes/all.h"

namespace stepcast::whatif {

// Without a name, in all calls that wait; with one, in calls that are called
// so, or in an op that is.
Status RemoveSync(const Change& change, StepEditor& editor) {
  const ir::GraphData& data = editor.data();
  const Glob glob(change.value);
  const auto inside = [&](ir::OpId op) {
    while (op.valid()) {
      const std::string_view name = editor.graph().text(data.ops[op].name);
      if (glob.Matches(name) || glob.Matches(engine::ShortOpName(name))) {
        return true;
      }
      op = data.ops[op].parent;
    }
    return false;
  };
  size_t removed = 0;
  for (const ir::ThreadId thread : data.threads.ids()) {
    const std::vector<timeline::HostSegment>& segments =
        editor.plan().threads[thread];
    for (uint32_t i = 0; i < segments.size(); ++i) {
      const ir::CallId call = segments[i].call;
      if (!call.valid() || ir::WaitsOf(data, call).empty()) {
        continue;
      }
      if (!change.value.empty() &&
          !glob.Matches(editor.graph().text(data.calls[call].name)) &&
          !inside(data.calls[call].op)) {
        continue;
      }
      EditedSegment& times = editor.times().segments[thread][i];
      times.waits = false;
      times.tail = 0;
      ++removed;
    }
  }
  if (removed == 0) {
    return Fail(ErrorCode::kUnsupported,
                change.value.empty()
                    ? "change remove-sync does not apply: the host waits for "
                      "the device in no call; expected a step with syncs"
                    : fmt::format("no call that waits is called '{}' or in "
                                  "such an op; expected one, as in "
                                  "'cudaStreamSynchronize' or 'aten::item'",
                                  change.value));
  }
  editor.Note(fmt::format(
      "{} call{} no longer wait{}; what reads the result of a copy on the host "
      "would have to do so later",
      removed, removed == 1 ? "" : "s", removed == 1 ? "s" : ""));
  editor.MarkBound();
  return {};
}

}  // namespace stepcast::whatif
