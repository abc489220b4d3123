// Several works that become one.
#ifndef STEPCAST_WHATIF_FUSE_H_
#define STEPCAST_WHATIF_FUSE_H_

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "ir/shape.h"
#include "whatif/step_editor.h"

namespace stepcast::whatif {

/// What was fused so far.
struct FusedWorks {
  size_t groups = 0;
  std::vector<ir::WorkId> dropped;  // All but the first of each.
};

/// Whether works that became one before compute, as one, what `is_so` accepts.
bool AnyFused(
    const StepEditor& editor,
    const std::function<bool(ir::WorkId, const ir::KernelShape&)>& is_so);

/// The first of `works` takes, for all of them, their time multiplied with the
/// price of `joined` over the sum of their prices. Leaves them alone if one of
/// these has no price.
Status Fuse(std::span<const ir::WorkId> works, const ir::KernelShape& joined,
            StepEditor& editor, FusedWorks& fused);

/// Takes works out, with the calls that launched them and, where an op launched
/// nothing else, with all of the op.
void DropLaunches(const std::vector<ir::WorkId>& works, StepEditor& editor);

}  // namespace stepcast::whatif

#endif  // STEPCAST_WHATIF_FUSE_H_
