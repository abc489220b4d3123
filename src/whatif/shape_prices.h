// What the models of one GPU make of shapes.
#ifndef STEPCAST_WHATIF_SHAPE_PRICES_H_
#define STEPCAST_WHATIF_SHAPE_PRICES_H_

#include <optional>
#include <vector>

#include "cost/kernel_models.h"
#include "ir/graph.h"
#include "ir/shape.h"

namespace stepcast::whatif {

/// Keeps prices; those of many shapes are worked out at once.
class ShapePrices {
 public:
  /// `models` outlives it.
  explicit ShapePrices(const cost::KernelModels& models) : models_(models) {}

  /// Notes a shape down, unless it has been before.
  void Want(ir::ShapeId id, const ir::KernelShape& shape);
  /// Prices what was noted down.
  void Fill();
  /// Of a shape that was wanted; nothing if no model answers.
  const std::optional<cost::Estimate>& operator[](ir::ShapeId id) const {
    return prices_[id.value];
  }

  const cost::KernelModels& models() const { return models_; }

 private:
  const cost::KernelModels& models_;
  std::vector<std::optional<cost::Estimate>> prices_;  // By shape.
  std::vector<char> known_;                            // The same.
  std::vector<ir::ShapeId> wanted_;
  std::vector<ir::KernelShape> shapes_;  // Of these.
};

}  // namespace stepcast::whatif

#endif  // STEPCAST_WHATIF_SHAPE_PRICES_H_
