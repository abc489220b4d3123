// scale-op: an op, a kernel or a family takes so many times as long.
#include <algorithm>

#include "whatif/changes/all.h"
#include "whatif/select.h"

namespace stepcast::whatif {

// On the device; an op that puts nothing there takes the host's time.
Status ScaleOp(const Change& change, StepEditor& editor) {
  ASSIGN_OR_RETURN(const NamedFactor named, ParseNamedFactor(change));
  if (named.name.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "change scale-op has no name; expected scale-op=NAME=FACTOR");
  }
  ASSIGN_OR_RETURN(const Selection selection,
                   Select(editor.graph(), editor.plan(), named.name));
  for (const ir::WorkId id : selection.works) {
    editor.ScaleWork(id, named.factor);
  }
  if (selection.works.empty()) {
    for (const PieceRef& ref : selection.pieces) {
      if (editor.piece(ref).kind != cost::HostKind::kBetweenOps) {
        editor.times_of(ref).duration *= named.factor;
      }
    }
  }
  return {};
}

}  // namespace stepcast::whatif
