// How the factors of matrix products lie in memory, from execution traces.
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

/// One a node; of nodes that are no products, neither. Schemas from 1.1.1 on
/// record strides. In older ones a tensor has those of the aten::as_strided
/// that made it (aten::t and aten::transpose call it), or lies row by row.
std::vector<FactorLayout> FindLayouts(const ExecutionTrace& trace);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_READ_LAYOUTS_H_
