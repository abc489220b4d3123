// Distinct shapes with dense ids.
#ifndef STEPCAST_IR_SHAPE_SET_H_
#define STEPCAST_IR_SHAPE_SET_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "ir/graph.h"

namespace stepcast::ir {

/// A hash that equal shapes share.
uint64_t HashOf(const KernelShape& shape);

/// Gives equal shapes the same id; ids follow the order of first use.
class ShapeSet {
 public:
  ShapeSet();

  ShapeId Insert(const KernelShape& shape);

  const IdVector<ShapeId, KernelShape>& shapes() const { return shapes_; }
  IdVector<ShapeId, KernelShape> Take() && { return std::move(shapes_); }

 private:
  struct Slot {
    uint64_t hash = 0;
    ShapeId id{};
  };

  void Grow();

  IdVector<ShapeId, KernelShape> shapes_;
  std::vector<Slot> slots_;  // Open addressing, a power of two.
};

}  // namespace stepcast::ir

#endif  // STEPCAST_IR_SHAPE_SET_H_
