// Prices of collectives for a step that is edited.
#ifndef STEPCAST_WHATIF_PRICE_COLLECTIVES_H_
#define STEPCAST_WHATIF_PRICE_COLLECTIVES_H_

#include "base/result.h"
#include "cost/collectives/collective_models.h"
#include "ir/graph.h"
#include "ir/shape.h"
#include "whatif/step_editor.h"

namespace stepcast::whatif {

/// Reprices collectives that move other bytes than they did, where the step ran
/// before it was edited: what servers add to a collective does not change with
/// a GPU.
class CollectiveRepricer {
 public:
  explicit CollectiveRepricer(StepEditor& editor) : editor_(editor) {}

  /// `to` is what the work becomes.
  Status Reprice(ir::WorkId id, const ir::Collective& to);
  /// How many could be.
  size_t repriced() const { return repriced_; }

 private:
  StepEditor& editor_;
  const cost::CollectiveModels* models_ = nullptr;
  size_t repriced_ = 0;
};

}  // namespace stepcast::whatif

#endif  // STEPCAST_WHATIF_PRICE_COLLECTIVES_H_
