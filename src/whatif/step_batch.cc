#include "whatif/step_batch.h"

#include <utility>

#include "base/check.h"
#include "whatif/apply.h"
#include "whatif/step_editor.h"

namespace stepcast::whatif {

StepBatch::StepBatch(const Case& before)
    : before_(before),
      filler_(before.result.graph->data(), before.result.lowered,
              before.times) {}

Result<Duration> StepBatch::StepWith(std::span<const Change> changes,
                                     cost::ModelStore& store) {
  times_ = before_.times;  // Into memory that is there.
  StepEditor editor(before_.result, before_.machine, store, std::move(times_));
  Status edited;
  for (const Change* const change : InOrder(changes)) {
    CHECK(!OfRequest(before_, *change)) << change->text;
    edited = CheckApplies(before_, *change);
    if (edited) {
      edited = change->kind->edit(*change, editor);
    }
    if (!edited) {
      break;
    }
  }
  times_ = std::move(editor.times());
  RETURN_IF_ERROR(edited);
  const timeline::Lowered& lowered = before_.result.lowered;
  sim::SimulateWith(lowered.tasks, filler_.Fill(times_), schedule_);
  return LongestOf(SpansOf(lowered, times_, schedule_));
}

}  // namespace stepcast::whatif
