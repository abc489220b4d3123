// TorchRec's DLRM: a pipeline that trains one batch while it distributes the
// ids of the next and copies the one after, as TrainPipelineSparseDist does.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "model/frameworks/embeddings.h"
#include "model/frameworks/exchange.h"
#include "model/frameworks/implementations.h"
#include "model/frameworks/placed_lookup.h"
#include "model/frameworks/torch/torch.h"
#include "model/frameworks/torchrec/torchrec_ids.h"
#include "model/networks/interaction.h"
#include "model/shapes.h"
#include "model/tables/embedding_stats.h"
#include "model/tables/rank_plan.h"

namespace stepcast::model {
namespace {

// Vectors of tables whose rows are split over the ranks of one node: parts are
// summed inside the node, then go to the nodes of their samples.

// TorchRec's TwRwPooledEmbeddingDist. All nodes take part if one has such
// tables, so that ranks issue the same collectives.
class TorchrecNode {
 public:
  TorchrecNode(Torch& torch, const RankPlan& plan, ir::StreamId stream,
               int64_t batch)
      : torch_(torch), plan_(plan), stream_(stream), batch_(batch) {}

  /// Whether any node has such tables.
  bool used() const { return !plan_.node_columns.empty(); }
  /// Columns of all nodes' such tables.
  int64_t columns() const;

  /// This rank's parts, summed and sent on.
  void Send();
  /// What the nodes made for this rank's samples is there.
  void Receive();

 private:
  // Elements of the node's vectors, for the samples of all ranks.
  int64_t PartElements() const;
  ir::Collective WithinNode(ir::CollectiveKind kind, int64_t elements) const;
  ir::Collective AcrossNodes() const;

  Torch& torch_;
  const RankPlan& plan_;
  ir::StreamId stream_;
  int64_t batch_ = 0;
};

int64_t TorchrecNode::columns() const {
  return std::accumulate(plan_.node_columns.begin(), plan_.node_columns.end(),
                         int64_t{0});
}

int64_t TorchrecNode::PartElements() const {
  // A node without such tables still takes part.
  return std::max<int64_t>(1,
                           batch_ * plan_.world * ColumnsOf(plan_.node_split));
}

ir::Collective TorchrecNode::WithinNode(ir::CollectiveKind kind,
                                        int64_t elements) const {
  ir::Collective collective =
      Collect(kind, plan_, elements, torch_.options().types.parameter);
  collective.group_size = plan_.ranks_per_node;
  return collective;
}

// Between the ranks that have the same place on their nodes. A rank is as busy
// as the larger of what its node makes for others and what it gets of them, and
// the other way round for gradients.
ir::Collective TorchrecNode::AcrossNodes() const {
  const int64_t nodes = plan_.world / plan_.ranks_per_node;
  const int64_t made = batch_ * nodes * ColumnsOf(plan_.node_split);
  const int64_t taken = batch_ * columns();
  ir::Collective collective =
      Collect(ir::CollectiveKind::kAllToAll, plan_, std::max(made, taken),
              torch_.options().types.parameter);
  collective.group_size = nodes;
  return collective;
}

void TorchrecNode::Send() {
  const int64_t elements = PartElements();
  StepBuilder& step = torch_.step();
  {
    const OpScope op(step, "ReduceScatterBase_Req");
    step.Collect(WithinNode(ir::CollectiveKind::kReduceScatter, elements),
                 stream_);
  }
  {
    const OpScope op(step, "All2All_Pooled_Req");
    step.Collect(AcrossNodes(), stream_);
  }
  torch_.OnBackward([this, elements] {
    const NodeScope node(torch_, "ReduceScatterBase_ReqBackward");
    torch_.step().WaitForStream(stream_);
    if (!plan_.node_split.empty()) {  // The mean over the ranks.
      torch_.step().Launch(Stream(elements, 1, torch_.options().types.parameter,
                                  ir::Arithmetic::kDivision));
    }
  });
}

void TorchrecNode::Receive() {
  {
    const OpScope op(torch_.step(), "All2All_Pooled_Wait");
    torch_.step().WaitForStream(stream_);
    torch_.step().Launch(ir::Concat{.tensors = std::ssize(plan_.node_columns),
                                    .elements = batch_ * columns(),
                                    .dtype = torch_.options().types.parameter});
  }
  torch_.OnBackward([this] {
    const NodeScope node(torch_, "All2All_Pooled_WaitBackward");
    torch_.step().Launch(
        ir::Transpose{.elements = batch_ * columns(),
                      .dtype = torch_.options().types.parameter});
    torch_.step().Collect(AcrossNodes(), stream_);
    torch_.step().Collect(
        WithinNode(ir::CollectiveKind::kAllGather,
                   std::max<int64_t>(1, PartElements() / plan_.ranks_per_node)),
        stream_);
  });
}

// Streams as the profiler numbers them in the 8-rank DLRM trace.
constexpr int64_t kPipelineCopyStream = 22;
constexpr int64_t kDistributionStream = 24;

class Pipeline {
 public:
  Pipeline(const Request& request, StepBuilder& step)
      : model_(request.model),
        settings_(request.settings),
        plan_(request.plan),
        step_(step),
        torch_(step, {.release = TorchRelease::kTorch21,
                      .types = TypesOf(request.settings.precision),
                      .train = request.settings.mode == Mode::kTrain,
                      .optimizer = request.model.dense_optimizer,
                      .form = request.model.optimizer_form}),
        streams_{.copy = step.AddStream(kPipelineCopyStream),
                 .distribution = step.AddStream(kDistributionStream),
                 .collective = request.plan.world > 1
                                   ? step.AddStream(kCollectiveStream)
                                   : ir::StreamId{}},
        ids_(request, step, streams_),
        ddp_(torch_, request.plan, streams_.collective, SummedGradients::kViews,
             request.settings.bucket_mib),
        node_(torch_, request.plan, streams_.collective,
              request.settings.batch) {}

  void Run() {
    torch_.SetGradientHook([this](int64_t elements) { ddp_.Reduce(elements); });
    torch_.OnBackward([this] { ddp_.Finish(); });  // After all others.
    for (const TableGroup& group : plan_.replicated) {
      for (int64_t i = 0; i < group.count; ++i) {
        torch_.AddParameter(group.rows * group.dim);
      }
    }
    if (torch_.options().train) {
      step_.SetPhase(ir::Phase::kOptimizer);
      ViewReplicated(1);
    }
    CopyNextBatch();
    if (!settings_.prefetch_ids) {
      ids_.Distribute();
    }
    step_.SetPhase(ir::Phase::kForward);
    const Tensor logits = Predict();
    // The replicated tables have a DDP of their own.
    ddp_.SetParameters(torch_.parameter_count() - TablesOf(plan_.replicated));
    if (torch_.options().train) {
      torch_.LossWithLogits(logits);
    }
    for (int i = 0; i < 3; ++i) {
      step_.Op("aten::detach");
    }
    if (settings_.prefetch_ids) {
      ids_.Distribute();
    }
    if (!torch_.options().train) {
      return;
    }
    // Of the same phase as what comes before it on the main thread: autograd's
    // thread starts after it.
    step_.SetPhase(ir::Phase::kForward);
    torch_.OnBackward([this] { torch_.Node("SumBackward1"); });
    {
      const OpScope op(step_, "aten::sum");
      step_.Launch(Sum(1, ir::DType::kFp32));
    }
    torch_.Backward();
    ViewReplicated(3 * TablesOf(plan_.replicated));
    torch_.OptimizerStep();
  }

 private:
  // The replicated tables are views into one parameter, made when asked for.
  void ViewReplicated(int64_t times) {
    for (int64_t i = 0; i < times && !plan_.replicated.empty(); ++i) {
      step_.Op("aten::slice");
      step_.Op("aten::view");
    }
  }

  int64_t batch() const { return settings_.batch; }
  bool alone() const { return plan_.world == 1; }

  // Numbers, ids, lengths, offsets and labels of a batch, from pinned memory.
  void CopyNextBatch() {
    step_.SetPhase(ir::Phase::kDataLoading);
    const int64_t bags = TableCount(model_) * batch();
    step_.UseStream(streams_.copy);
    for (const int64_t bytes :
         {batch() * model_.dense_features * ir::SizeOf(ir::DType::kFp32),
          LookupsOf(model_.tables, batch()) * ir::SizeOf(ir::DType::kInt32),
          bags * ir::SizeOf(ir::DType::kInt32),
          (bags + 1) * ir::SizeOf(ir::DType::kInt64),
          batch() * ir::SizeOf(ir::DType::kInt32)}) {
      const OpScope op(step_, "aten::to");
      if (bytes > 0) {
        step_.CopyToDevice(bytes, settings_.pinned, /*waits=*/false);
      }
    }
    step_.UseStream(step_.compute_stream());
    for (int i = 0; i < 5; ++i) {
      step_.Op("aten::record_stream");
    }
  }

  Tensor Predict() {
    const ir::DType dtype = torch_.options().types.parameter;
    const Tensor dense{
        .rows = batch(), .columns = model_.dense_features, .dtype = dtype};
    const Tensor bottom =
        torch_.Mlp(dense, model_.bottom_mlp, /*last_relu=*/true);
    Tensor vectors{.rows = batch(),
                   .columns = EmbeddingWidth(model_),
                   .dtype = dtype,
                   .grad = torch_.options().train};
    LookUp(dtype);
    step_.Op("aten::split_with_sizes");
    torch_.OnBackward([this, vectors] {
      torch_.Node("SplitWithSizesBackward0",
                  ir::Concat{.tensors = TableCount(model_),
                             .elements = vectors.elements(),
                             .dtype = vectors.dtype});
    });
    vectors = torch_.Cat(TableVectors(model_.tables, dtype));
    step_.Op("aten::reshape");
    torch_.OnBackward([this] { torch_.Node("ReshapeAliasBackward0"); });
    const Tensor rendezvous =
        Interact(torch_, model_, bottom, {&vectors, 1}, Triangle::kSelected);
    const Tensor logits =
        torch_.Mlp(rendezvous, model_.top_mlp, /*last_relu=*/false);
    step_.Op("aten::squeeze");
    torch_.OnBackward([this] { torch_.Node("SqueezeBackward1"); });
    if (torch_.options().train) {  // Labels as numbers.
      const OpScope op(step_, "aten::to");
      step_.Launch(Cast(batch(), ir::DType::kInt32, ir::DType::kFp32));
    }
    return logits;
  }

  ir::EmbeddingBag BagOf(const std::vector<TableGroup>& tables, int64_t samples,
                         ir::DType dtype) const {
    return Lookup(tables,
                  {.batch = samples,
                   .dtype = dtype,
                   .alpha = CommonAlpha(tables, samples, settings_.seed)});
  }

  // Rows of this rank for the samples of all ranks.
  void LookUpOwned(const std::vector<TableGroup>& tables, ir::DType dtype) {
    if (tables.empty()) {
      return;
    }
    ids_.Receive(BagOf(tables, batch() * plan_.world, dtype));
    for (int i = 0; i < 4; ++i) {
      step_.Op("aten::record_stream");
    }
    for (const std::vector<TableGroup>& placed : ByPlacement(tables)) {
      if (LookedUpByHost(placed.front())) {
        LookUpOnHost(torch_, placed, batch() * plan_.world,
                     model_.table_optimizer, settings_.seed);
        continue;
      }
      const ir::EmbeddingBag bag = BagOf(placed, batch() * plan_.world, dtype);
      PrepareIds(step_, bag);
      if (placed.front().placement == Placement::kHostCache) {
        FillCacheByHost(step_, placed, bag.batch, settings_.seed);
      }
      FillCache(step_, bag);
      LookUpSplit(torch_, bag, model_.table_optimizer);
      step_.Op("aten::view");
    }
  }

  // This rank's tables, the vectors to where their samples are, the same of
  // tables that are split by rows over all ranks or over a node's, and the
  // tables that every rank has.
  void LookUp(ir::DType dtype) {
    const bool sends = !alone() && sharded_columns() > 0;
    const bool sums = !plan_.split.empty();
    LookUpOwned(plan_.local, dtype);
    if (sends) {
      SendVectors();
    }
    LookUpOwned(plan_.split, dtype);
    if (sums) {
      SendParts();
    }
    LookUpOwned(plan_.node_split, dtype);
    if (node_.used()) {
      node_.Send();
    }
    if (!plan_.replicated.empty()) {
      const ir::EmbeddingBag bag = BagOf(plan_.replicated, batch(), dtype);
      PrepareIds(step_, bag);
      const int64_t elements = ElementsOf(plan_.replicated);
      LookUpDense(torch_, bag, elements,
                  [this, elements] { ddp_.ReduceAlone(elements); });
      step_.Op("aten::view");
    }
    if (sends) {
      ReceiveVectors();
    }
    if (sums) {
      ReceiveSums();
    }
    if (node_.used()) {
      node_.Receive();
    }
    std::vector<Tensor> parts;
    for (const int64_t columns :
         {sharded_columns(), ColumnsOf(plan_.split), node_.columns(),
          ColumnsOf(plan_.replicated)}) {
      if (columns > 0) {
        parts.push_back({.rows = batch(),
                         .columns = columns,
                         .dtype = dtype,
                         .grad = torch_.options().train});
      }
    }
    if (parts.size() > 1) {
      torch_.Cat(parts);
    }
  }

  // A tensor a table.
  std::vector<Tensor> TableVectors(const std::vector<TableGroup>& tables,
                                   ir::DType dtype) const {
    std::vector<Tensor> vectors;
    for (const TableGroup& group : tables) {
      vectors.insert(vectors.end(), static_cast<size_t>(group.count),
                     {.rows = batch(),
                      .columns = group.dim,
                      .dtype = dtype,
                      .grad = torch_.options().train});
    }
    return vectors;
  }

  // Columns of the tables that are on one rank each.
  int64_t sharded_columns() const {
    return EmbeddingWidth(model_) - ColumnsOf(plan_.replicated) -
           ColumnsOf(plan_.split) - node_.columns();
  }
  Portions VectorPortions() const {
    return PortionsOf(
        plan_, &RankLoad::columns, batch(),
        {.own = ColumnsOf(plan_.local), .all = sharded_columns()});
  }

  // The request's node comes last: gradients are there, and their mean over the
  // ranks is taken.
  void WaitForGradients(std::string_view name, int64_t elements) {
    torch_.OnBackward([this, name, elements] {
      const NodeScope node(torch_, name);
      step_.WaitForStream(streams_.collective);
      if (elements > 0) {
        step_.Launch(Stream(elements, 1, torch_.options().types.parameter,
                            ir::Arithmetic::kDivision));
      }
    });
  }

  void SendVectors() {
    step_.Op("aten::empty");
    const ir::DType dtype = torch_.options().types.parameter;
    {
      const OpScope op(step_, "All2All_Pooled_Req");
      step_.Collect(ToSamples(plan_, VectorPortions(), dtype),
                    streams_.collective);
    }
    WaitForGradients("All2All_Pooled_ReqBackward",
                     batch() * plan_.world * ColumnsOf(plan_.local));
  }

  void ReceiveVectors() {
    const ir::DType dtype = torch_.options().types.parameter;
    const int64_t elements = batch() * sharded_columns();
    const std::vector<int64_t> by_rank = PartsOf(plan_, VectorPortions());
    const ir::Concat parts{
        .tensors = std::ssize(by_rank), .elements = elements, .dtype = dtype};
    {
      const OpScope op(step_, "All2All_Pooled_Wait");
      step_.WaitForStream(streams_.collective);
      step_.Launch(parts);
    }
    torch_.OnBackward([this, elements, dtype, by_rank, parts] {
      const NodeScope node(torch_, "All2All_Pooled_WaitBackward");
      step_.Launch(ir::Transpose{.elements = elements, .dtype = dtype});
      for (const int64_t part : by_rank) {
        step_.Launch(ir::Transpose{.elements = part, .dtype = dtype});
      }
      step_.Launch(parts);
      step_.Collect(ToTables(plan_, VectorPortions(), dtype),
                    streams_.collective);
    });
  }

  // Of tables that are split by rows, every rank has a part of every vector.
  void SendParts() {
    const int64_t elements = batch() * plan_.world * ColumnsOf(plan_.split);
    {
      const OpScope op(step_, "ReduceScatterBase_Req");
      step_.Collect(Collect(ir::CollectiveKind::kReduceScatter, plan_, elements,
                            torch_.options().types.parameter),
                    streams_.collective);
    }
    WaitForGradients("ReduceScatterBase_ReqBackward", elements);
  }

  void ReceiveSums() {
    {
      const OpScope op(step_, "ReduceScatterBase_Wait");
      step_.WaitForStream(streams_.collective);
    }
    torch_.OnBackward([this] {
      const NodeScope node(torch_, "ReduceScatterBase_WaitBackward");
      step_.Collect(Collect(ir::CollectiveKind::kAllGather, plan_,
                            batch() * ColumnsOf(plan_.split),
                            torch_.options().types.parameter),
                    streams_.collective);
    });
  }

  const Model& model_;
  const Settings& settings_;
  const RankPlan& plan_;
  StepBuilder& step_;
  Torch torch_;
  TorchrecStreams streams_;
  TorchrecIds ids_;
  Ddp ddp_;
  TorchrecNode node_;
};

}  // namespace

Result<ir::Graph> BuildTorchrec(const Request& request) {
  StepBuilder step("model");
  Pipeline(request, step).Run();
  return std::move(step).Finish();
}

}  // namespace stepcast::model
