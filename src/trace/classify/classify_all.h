// Typed shapes of all device events of a rank.
#ifndef STEPCAST_TRACE_CLASSIFY_CLASSIFY_ALL_H_
#define STEPCAST_TRACE_CLASSIFY_CLASSIFY_ALL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "base/text/string_pool.h"
#include "ir/shape.h"
#include "trace/classify/rules.h"
#include "trace/read/arguments.h"
#include "trace/read/load.h"

namespace stepcast::trace {

/// Shapes by device event. Iterations repeat, so each distinct one is there
/// once.
struct Classification {
  std::vector<ir::KernelShape> shapes;
  std::vector<uint32_t> shape_of;  // Of every device event: into shapes.

  const ir::KernelShape& of(size_t device_event) const {
    return shapes[shape_of[device_event]];
  }
};

/// The recorded arguments of host events, parsed once for each distinct text.
/// They come from the profiler's own record; where it has none, or the same
/// shapes but less detail, from the paired execution trace.
class ArgumentTable {
 public:
  explicit ArgumentTable(const RankTrace& rank) : rank_(rank) {}

  /// Null when nothing was recorded. Valid as long as the table.
  const Arguments* Find(uint32_t host_event);
  /// Equal for events with equal arguments; 0 for none.
  uint32_t KeyOf(uint32_t host_event);

 private:
  Arguments Parse(uint32_t host_event) const;

  const RankTrace& rank_;
  StringPool keys_;  // Pairs of argument set and execution node, as bytes.
  std::vector<std::unique_ptr<Arguments>> by_key_;
};

/// All device events of the rank's profiler trace, over all steps.
Classification ClassifyAll(const RankTrace& rank, const Rules& rules);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_CLASSIFY_CLASSIFY_ALL_H_
