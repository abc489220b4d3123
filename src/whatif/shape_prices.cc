#include "whatif/shape_prices.h"

#include <cstddef>

namespace stepcast::whatif {

void ShapePrices::Want(ir::ShapeId id, const ir::KernelShape& shape) {
  if (id.value >= known_.size()) {
    known_.resize(size_t{id.value} + 1);
    prices_.resize(known_.size());
  }
  if (known_[id.value] == 0) {
    known_[id.value] = 1;
    wanted_.push_back(id);
    shapes_.push_back(shape);
  }
}

void ShapePrices::Fill() {
  std::vector<std::optional<cost::Estimate>> found(shapes_.size());
  models_.PriceAll(shapes_, found);
  for (size_t i = 0; i < wanted_.size(); ++i) {
    prices_[wanted_[i].value] = found[i];
  }
  wanted_.clear();
  shapes_.clear();
}

}  // namespace stepcast::whatif
