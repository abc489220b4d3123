// drop-op: an op or a kernel is not there at all.
#include "whatif/changes/all.h"
#include "whatif/select.h"

namespace stepcast::whatif {

Status DropOp(const Change& change, StepEditor& editor) {
  if (change.value.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "change drop-op has no name; expected drop-op=NAME");
  }
  ASSIGN_OR_RETURN(const Selection selection,
                   Select(editor.graph(), editor.plan(), change.value));
  for (const ir::WorkId id : selection.works) {
    editor.DropWork(id);
  }
  for (const PieceRef& ref : selection.pieces) {
    editor.DropPiece(ref);
  }
  return {};
}

}  // namespace stepcast::whatif
