// fuse-elementwise: elementwise kernels that follow each other become one.
#include <algorithm>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "whatif/changes/all.h"
#include "whatif/fuse.h"

namespace stepcast::whatif {
namespace {

// Activities that something other than the next activity waits for.
std::vector<char> WaitedFor(const ir::GraphData& data) {
  std::vector<char> waited(data.activities.size());
  for (const ir::StreamWait& wait : data.stream_waits) {
    waited[wait.before.value] = 1;
  }
  for (const ir::HostWait& wait : data.host_waits) {
    waited[wait.before.value] = 1;
  }
  return waited;
}

const ir::Elementwise* SizedElementwise(const ir::KernelShape& shape) {
  const auto* item = std::get_if<ir::Elementwise>(&shape);
  return item != nullptr && ir::IsSized(*item) ? item : nullptr;
}

// What one made is read by the next and by nobody else.
ir::Elementwise Joined(const ir::Elementwise& first,
                       const ir::Elementwise& next) {
  ir::Elementwise joined = next;
  joined.read.count =
      first.read.count +
      std::max<int64_t>(next.read.count - first.written.count, 0);
  joined.arithmetic = std::max(first.arithmetic, next.arithmetic);
  joined.scattered = first.scattered || next.scattered;
  return joined;
}

}  // namespace

Status FuseElementwise(const Change& change, StepEditor& editor) {
  RETURN_IF_ERROR(NoValue(change));
  const ir::GraphData& data = editor.data();
  const std::vector<char> waited = WaitedFor(data);
  FusedActivities fused;
  std::vector<ir::ActivityId> chain;
  ir::Elementwise joined;
  const auto close = [&]() -> Status {
    if (chain.size() > 1) {
      RETURN_IF_ERROR(Fuse(chain, joined, editor, fused));
    }
    chain.clear();
    return {};
  };
  for (const ir::ActivityId id :
       data.activities.ids()) {  // Stream by stream, in order.
    if (editor.times().activities[id].dropped) {
      continue;
    }
    const auto* item = SizedElementwise(editor.shape(id));
    const bool goes_on =
        item != nullptr && !chain.empty() &&
        data.activities[chain.back()].stream == data.activities[id].stream &&
        waited[editor.ActivitiesIn(chain.back()).back().value] == 0 &&
        PhaseOf(data, chain.back()) == PhaseOf(data, id) &&
        item->elements == joined.elements && item->dtype == joined.dtype &&
        item->read.count >= joined.written.count;
    if (!goes_on) {
      RETURN_IF_ERROR(close());
    }
    if (item != nullptr) {
      joined = chain.empty() ? *item : Joined(joined, *item);
      chain.push_back(id);
    }
  }
  RETURN_IF_ERROR(close());
  if (fused.groups == 0 &&
      AnyFused(editor, [](ir::ActivityId /*id*/, const ir::KernelShape& shape) {
        return std::holds_alternative<ir::Elementwise>(shape);
      })) {
    return {};
  }
  if (fused.groups == 0) {
    return Fail(ErrorCode::kUnsupported,
                "change fuse-elementwise does not apply: no two elementwise "
                "kernels of one size follow each other; expected a step with "
                "shapes");
  }
  DropLaunches(fused.dropped, editor);
  editor.Note(fmt::format(
      "{} elementwise kernels in {}; that each reads what the one before it "
      "made is taken for granted",
      fused.dropped.size() + fused.groups, fused.groups));
  editor.MarkBound();
  return {};
}

}  // namespace stepcast::whatif
