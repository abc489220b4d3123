// Several activities that become one.
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
struct FusedActivities {
  size_t groups = 0;
  std::vector<ir::ActivityId> dropped;  // All but the first of each.
};

/// Whether activities that became one before compute, as one, what `is_so`
/// accepts.
bool AnyFused(
    const StepEditor& editor,
    const std::function<bool(ir::ActivityId, const ir::KernelShape&)>& is_so);

/// The first of `activities` takes, for all of them, their time multiplied with
/// the price of `joined` over the sum of their prices. Leaves them alone if one
/// of these has no price.
Status Fuse(std::span<const ir::ActivityId> activities,
            const ir::KernelShape& joined, StepEditor& editor,
            FusedActivities& fused);

/// Takes works out, with the calls that launched them and, where an op launched
/// nothing else, with all of the op.
void DropLaunches(const std::vector<ir::ActivityId>& activities,
                  StepEditor& editor);

}  // namespace stepcast::whatif

#endif  // STEPCAST_WHATIF_FUSE_H_
