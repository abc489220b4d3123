#include "workload/impl/dlrm_rank.h"

#include <vector>

#include "workload/impl/exchange.h"
#include "workload/impl/interaction.h"

namespace stepcast::workload {
namespace {

Portions VectorPortions(const Model& model, const RankPlan& plan,
                        int64_t batch) {
  return PortionsOf(
      plan, &RankLoad::columns, batch,
      {.own = ColumnsOf(plan.local), .all = EmbeddingWidth(model)});
}

}  // namespace

DlrmRank::DlrmRank(Torch& torch, const Model& model, const RankPlan& plan,
                   ir::StreamId stream, int64_t bucket_mib)
    : torch_(torch),
      model_(model),
      plan_(plan),
      stream_(stream),
      bottom_(torch, plan, stream, SummedGradients::kCopies, bucket_mib),
      top_(torch, plan, stream, SummedGradients::kCopies, bucket_mib) {}

Tensor DlrmRank::Predict(const Tensor& dense, LookupStyle style,
                         const LookupOptions& lookups) {
  batch_ = dense.rows;
  Model owned = model_;
  owned.tables = plan_.local;
  // Behind all other nodes.
  torch_.OnBackward([this] {
    bottom_.Finish();
    top_.Finish();
  });
  std::vector<Tensor> vectors;
  torch_.Label();
  if (!plan_.local.empty()) {
    vectors = LookUp(torch_, owned, style, lookups);
  }
  Send(vectors);
  torch_.Label();
  const Tensor bottom =
      torch_.Mlp(dense, model_.bottom_mlp, /*last_relu=*/true);
  const int64_t below = torch_.parameter_count();
  bottom_.SetParameters(below);
  torch_.OnBackward([this] {
    torch_.SetGradientHook(
        [this](int64_t elements) { bottom_.Reduce(elements); });
  });
  const Tensor received = Receive();
  torch_.Label();
  const Tensor meeting = Interact(torch_, model_, bottom, {&received, 1});
  torch_.Label();
  const Tensor logits = torch_.Mlp(meeting, model_.top_mlp,
                                   /*last_relu=*/false, model_.dropout);
  top_.SetParameters(torch_.parameter_count() - below);
  torch_.SetGradientHook([this](int64_t elements) { top_.Reduce(elements); });
  return logits;
}

void DlrmRank::Send(const std::vector<Tensor>& vectors) {
  StepBuilder& step = torch_.step();
  const ir::DType dtype = torch_.options().types.parameter;
  const int64_t made = batch_ * plan_.world * ColumnsOf(plan_.local);
  {
    const OpScope op(step, "All2All_Req");
    if (vectors.size() > 1) {
      step.Launch(ir::Concat{
          .tensors = std::ssize(vectors), .elements = made, .dtype = dtype});
    }
    step.Collect(ToSamples(plan_, VectorPortions(model_, plan_, batch_), dtype),
                 stream_);
  }
  torch_.OnBackward([this] {
    const NodeScope node(torch_, "All2All_ReqBackward");
    torch_.step().WaitForStream(stream_);
  });
}

Tensor DlrmRank::Receive() {
  StepBuilder& step = torch_.step();
  const Tensor all{.rows = batch_,
                   .columns = EmbeddingWidth(model_),
                   .dtype = torch_.options().types.parameter,
                   .grad = torch_.options().train};
  {
    const OpScope op(step, "All2All_Wait");
    step.WaitForStream(stream_);
  }
  torch_.OnBackward([this, all] {
    const NodeScope node(torch_, "All2All_WaitBackward");
    const Portions portions = VectorPortions(model_, plan_, batch_);
    torch_.step().Launch(
        ir::Concat{.tensors = std::ssize(PartsOf(plan_, portions)),
                   .elements = all.elements(),
                   .dtype = all.dtype});
    torch_.step().Collect(ToTables(plan_, portions, all.dtype), stream_);
  });
  return all;
}

}  // namespace stepcast::workload
