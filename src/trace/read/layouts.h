// The memory layout of the factors of matrix products, from execution traces.
#ifndef STEPCAST_TRACE_READ_LAYOUTS_H_
#define STEPCAST_TRACE_READ_LAYOUTS_H_

#include <vector>

#include "trace/read/execution_trace.h"

namespace stepcast::trace {

/// Whether the rows of a product's factors are their columns in memory.
struct FactorLayout {
  bool a_transposed = false;
  bool b_transposed = false;
  friend bool operator==(const FactorLayout&, const FactorLayout&) = default;
};

/// One per node; for nodes that are not products, neither factor is transposed.
/// Schemas from 1.1.1 on record strides. In older ones a tensor has those of
/// the aten::as_strided that made it (aten::t and aten::transpose call it), or
/// is row-major.
std::vector<FactorLayout> FindLayouts(const ExecutionTrace& trace);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_READ_LAYOUTS_H_
