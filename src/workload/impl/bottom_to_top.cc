#include "workload/impl/bottom_to_top.h"

#include "workload/impl/exchange.h"

namespace stepcast::workload {
namespace {

// Gradients in the order of the ranks that made the vectors, a tensor for each,
// and back to them.
void Backward(Torch& torch, const RankPlan& plan, ir::StreamId stream,
              const Tensor& all, const Portions& portions) {
  StepBuilder& step = torch.step();
  const NodeScope node(torch, "BottomToTopBackward");
  step.Launch(ir::Index{.elements = all.elements(),
                        .source = all.elements(),
                        .dtype = all.dtype});
  for (const int64_t part : PartsOf(plan, portions)) {
    step.Launch(ir::Transpose{.elements = part, .dtype = all.dtype});
  }
  step.Collect(ToTables(plan, portions, all.dtype), stream);
  step.WaitForStream(stream);
}

}  // namespace

Tensor BottomToTop(Torch& torch, const RankPlan& plan, ir::StreamId stream,
                   const Tensor& made, int64_t vectors) {
  StepBuilder& step = torch.step();
  const int64_t batch = made.rows / plan.world;
  const Tensor all{.rows = batch,
                   .columns = vectors,
                   .dtype = torch.options().types.activation,
                   .grad = torch.options().train};
  const Portions portions = PortionsOf(plan, &RankLoad::columns, batch,
                                       {.own = made.columns, .all = vectors});
  {
    const OpScope op(step, "BottomToTop");
    step.Collect(ToSamples(plan, portions, all.dtype), stream);
    step.WaitForStream(stream);
    // What came of each rank side by side, then in the order of the features.
    step.Launch(ir::Concat{.tensors = std::ssize(PartsOf(plan, portions)),
                           .elements = all.elements(),
                           .dtype = all.dtype});
    step.Launch(ir::Index{.elements = all.elements(),
                          .source = all.elements(),
                          .dtype = all.dtype});
  }
  torch.OnBackward([&torch, &plan, stream, all, portions] {
    Backward(torch, plan, stream, all, portions);
  });
  return all;
}

}  // namespace stepcast::workload
