// TorchRec's DLRM: a pipeline that trains one batch while it distributes the
// ids of the next and copies the one after, as TrainPipelineSparseDist does.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "workload/embedding_stats.h"
#include "workload/impl/fbgemm.h"
#include "workload/impl/implementations.h"
#include "workload/impl/interaction.h"
#include "workload/impl/torch.h"

namespace stepcast::workload {
namespace {

// Streams as the profiler numbers them in the 8-rank DLRM trace.
constexpr int64_t kCopyStream = 22;
constexpr int64_t kDistributionStream = 24;
constexpr int64_t kCollectiveStream = 84;

// DDP's first bucket takes 1 MiB, all others 25 MiB (reducer.hpp).
constexpr int64_t kFirstBucketBytes = 1'048'576;
constexpr int64_t kBucketBytes = 25 * kFirstBucketBytes;

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
        copy_(step.AddStream(kCopyStream)),
        distribution_(step.AddStream(kDistributionStream)),
        collective_(request.plan.world > 1 ? step.AddStream(kCollectiveStream)
                                           : ir::StreamId{}) {}

  void Run() {
    torch_.SetGradientHook([this](int64_t elements) { Reduce(elements); });
    torch_.OnBackward([this] { FinishReduction(); });  // After all others.
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
    step_.SetPhase(ir::Phase::kForward);
    const Tensor logits = Predict();
    if (torch_.options().train) {
      torch_.LossWithLogits(logits);
    }
    for (int i = 0; i < 3; ++i) {
      step_.Op("aten::detach");
    }
    DistributeNextIds();
    if (!torch_.options().train) {
      return;
    }
    // Of the same phase as what comes before it on the main thread: autograd's
    // thread starts behind it.
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
  static int64_t TablesOf(const std::vector<TableGroup>& tables) {
    int64_t count = 0;
    for (const TableGroup& group : tables) {
      count += group.count;
    }
    return count;
  }

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
    step_.UseStream(copy_);
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

  // What came of all ranks, in the order of this rank's tables.
  void ReceiveIds(const ir::EmbeddingBag& bag) {
    if (alone()) {
      return;
    }
    step_.SetPhase(ir::Phase::kSparseDataDist);
    step_.UseStream(distribution_);
    for (int i = 0; i < 2; ++i) {
      const OpScope op(step_, "record_param_comms");
      step_.WaitForStream(collective_);
    }
    step_.Op("aten::view");
    PermuteIds(step_, bag.tables * bag.batch, bag.lookups);
    step_.Op("aten::view");
    step_.Op("aten::view");
    {
      const OpScope op(step_, "aten::sum");
      step_.Launch(
          Cast(bag.tables * bag.batch, ir::DType::kInt32, ir::DType::kInt64));
      step_.Launch(ir::Reduction{.inputs = bag.tables * bag.batch,
                                 .outputs = bag.tables,
                                 .dtype = ir::DType::kInt64});
    }
    ReadByHost(bag.tables * ir::SizeOf(ir::DType::kInt64));
    step_.UseStream(step_.compute_stream());
    step_.WaitForStream(distribution_);
    step_.SetPhase(ir::Phase::kForward);
  }

  void ReadByHost(int64_t bytes) {
    step_.Op("aten::resolve_conj");
    step_.Op("aten::resolve_neg");
    const OpScope op(step_, "aten::to");
    step_.CopyToHost(bytes);
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
    const Tensor meeting =
        Interact(torch_, model_, bottom, {&vectors, 1}, Triangle::kSelected);
    const Tensor logits =
        torch_.Mlp(meeting, model_.top_mlp, /*last_relu=*/false);
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

  // This rank's tables for the samples of all ranks, the vectors to where their
  // samples are, and the tables that every rank has.
  void LookUp(ir::DType dtype) {
    if (!plan_.local.empty()) {
      const ir::EmbeddingBag bag =
          BagOf(plan_.local, batch() * plan_.world, dtype);
      ReceiveIds(bag);
      for (int i = 0; i < 4; ++i) {
        step_.Op("aten::record_stream");
      }
      PrepareIds(step_, bag);
      LookUpSplit(torch_, bag, model_.table_optimizer);
      step_.Op("aten::view");
    }
    if (!alone()) {
      SendVectors();
    }
    if (!plan_.replicated.empty()) {
      const ir::EmbeddingBag bag = BagOf(plan_.replicated, batch(), dtype);
      PrepareIds(step_, bag);
      LookUpDense(torch_, bag, [this, bag] {
        step_.Launch(Stream(bag.rows * bag.dim, 1, bag.dtype));
        ReduceBucket(bag.rows * bag.dim);
      });
      step_.Op("aten::view");
    }
    if (!alone()) {
      ReceiveVectors();
    }
    if (!plan_.replicated.empty()) {
      const bool grad = torch_.options().train;
      const int64_t sharded = sharded_columns();
      torch_.Cat(std::vector<Tensor>{
          {.rows = batch(), .columns = sharded, .dtype = dtype, .grad = grad},
          {.rows = batch(),
           .columns = EmbeddingWidth(model_) - sharded,
           .dtype = dtype,
           .grad = grad}});
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

  int64_t local_columns() const {
    int64_t columns = 0;
    for (const TableGroup& group : plan_.local) {
      columns += group.count * group.dim;
    }
    return columns;
  }
  // Columns of the tables that are on one rank each.
  int64_t sharded_columns() const {
    int64_t columns = EmbeddingWidth(model_);
    for (const TableGroup& group : plan_.replicated) {
      columns -= group.count * group.dim;
    }
    return columns;
  }

  void Exchange(int64_t elements, ir::DType dtype) {
    step_.Collect({.kind = ir::CollectiveKind::kAllToAll,
                   .bytes = {elements * ir::SizeOf(dtype)},
                   .group_size = plan_.world,
                   .dtype = dtype},
                  collective_);
  }

  void SendVectors() {
    step_.Op("aten::empty");
    const ir::DType dtype = torch_.options().types.parameter;
    const int64_t elements = batch() * plan_.world * local_columns();
    {
      const OpScope op(step_, "All2All_Pooled_Req");
      Exchange(elements, dtype);
    }
    torch_.OnBackward([this, elements, dtype] {
      const NodeScope node(torch_, "All2All_Pooled_ReqBackward");
      step_.WaitForStream(collective_);
      // The mean over the ranks.
      step_.Launch(Stream(elements, 1, dtype, ir::Arithmetic::kDivision));
    });
  }

  void ReceiveVectors() {
    const ir::DType dtype = torch_.options().types.parameter;
    const int64_t elements = batch() * sharded_columns();
    const ir::Concat parts{
        .tensors = plan_.world, .elements = elements, .dtype = dtype};
    {
      const OpScope op(step_, "All2All_Pooled_Wait");
      step_.WaitForStream(collective_);
      step_.Launch(parts);
    }
    torch_.OnBackward([this, elements, dtype, parts] {
      const NodeScope node(torch_, "All2All_Pooled_WaitBackward");
      step_.Launch(ir::Transpose{.elements = elements, .dtype = dtype});
      for (int64_t i = 0; i < plan_.world; ++i) {
        step_.Launch(
            ir::Transpose{.elements = elements / plan_.world, .dtype = dtype});
      }
      step_.Launch(parts);
      Exchange(elements, dtype);
    });
  }

  // Ids of the next batch to the ranks of their tables: how many first, then
  // lengths, then ids.
  void DistributeNextIds() {
    step_.SetPhase(ir::Phase::kSparseDataDist);
    step_.UseStream(distribution_);
    step_.WaitForStream(copy_);
    for (int i = 0; i < 5; ++i) {
      step_.Op("aten::record_stream");
    }
    if (!alone()) {
      SendIds();
    }
    step_.UseStream(step_.compute_stream());
  }

  void CopyList(int64_t elements, ir::DType dtype) {
    step_.Op("aten::empty");
    {
      const OpScope op(step_, "aten::to");
      step_.CopyToDevice(elements * ir::SizeOf(dtype), /*pinned=*/false,
                         /*waits=*/true);
    }
    step_.Op("aten::lift_fresh");
    step_.Op("aten::detach_");
  }

  void SendIds() {
    const int64_t bags = TableCount(model_) * batch();
    const int64_t ids = LookupsOf(model_.tables, batch());
    const int64_t sent_bags =
        (TableCount(model_) - TablesOf(plan_.replicated)) * batch();
    const int64_t sent_ids = ids - LookupsOf(plan_.replicated, batch());
    step_.Op("aten::view");
    PermuteIds(step_, bags, ids);
    step_.Op("aten::view");
    for (int i = 0; i < 4; ++i) {
      step_.Op("aten::slice");
    }
    for (int i = 0; i < 3; ++i) {
      CopyList(plan_.world, ir::DType::kInt64);
    }
    step_.Op("aten::empty");
    {
      const OpScope op(step_, "aten::stack");
      step_.Launch(ir::Concat{.tensors = 3,
                              .elements = 3 * plan_.world,
                              .dtype = ir::DType::kInt64});
    }
    step_.Op("aten::flatten");
    Distribute(3 * plan_.world, ir::DType::kInt64);
    {
      const OpScope op(step_, "record_param_comms");
      step_.WaitForStream(collective_);
    }
    step_.Op("aten::view");
    step_.Op("aten::numpy_T");
    ReadByHost(3 * plan_.world * ir::SizeOf(ir::DType::kInt64));
    CopyList(TablesOf(plan_.local) * plan_.world, ir::DType::kInt32);
    step_.Op("aten::empty");
    Distribute(sent_bags, ir::DType::kInt32);
    step_.Op("aten::empty");
    Distribute(sent_ids, ir::DType::kInt32);
  }

  void Distribute(int64_t elements, ir::DType dtype) {
    const OpScope op(step_, "c10d::alltoall_base_");
    Exchange(elements, dtype);
  }

  // DDP copies each gradient into its bucket, divided by the ranks; a bucket
  // that is full, or the last, is summed over the ranks.
  void Reduce(int64_t elements) {
    const ir::DType dtype = torch_.options().types.parameter;
    step_.Launch(Stream(elements, 1, dtype));
    bucket_ += elements;
    ++bucket_gradients_;
    ++gradients_;
    const int64_t limit = full_buckets_ == 0 ? kFirstBucketBytes : kBucketBytes;
    const int64_t all = torch_.parameter_count() - TablesOf(plan_.replicated);
    if (bucket_ * ir::SizeOf(dtype) >= limit || gradients_ == all) {
      ReduceBucket(bucket_);
      reduced_.push_back(bucket_gradients_);
      bucket_ = 0;
      bucket_gradients_ = 0;
      ++full_buckets_;
    }
  }

  void ReduceBucket(int64_t elements) {
    if (alone()) {
      return;
    }
    const ir::DType dtype = torch_.options().types.parameter;
    step_.Collect({.kind = ir::CollectiveKind::kAllReduce,
                   .bytes = {elements * ir::SizeOf(dtype)},
                   .group_size = plan_.world,
                   .dtype = dtype},
                  collective_);
  }

  // DDP points the gradients into the buckets that were summed; the replicated
  // tables have a DDP of their own.
  void FinishReduction() {
    if (!plan_.replicated.empty()) {
      reduced_.insert(reduced_.begin(), 1);
    }
    for (const int64_t gradients : reduced_) {
      if (!alone()) {
        step_.WaitForStream(collective_);
      }
      for (int64_t i = 0; i < gradients; ++i) {
        step_.Op("aten::as_strided");
      }
      for (int64_t i = 0; i < gradients; ++i) {
        step_.Op("aten::select");
        step_.Op("aten::item");
      }
    }
  }

  const Model& model_;
  const Settings& settings_;
  const RankPlan& plan_;
  StepBuilder& step_;
  Torch torch_;
  ir::StreamId copy_{};
  ir::StreamId distribution_{};
  ir::StreamId collective_{};
  int64_t bucket_ = 0;  // Elements that wait to be reduced.
  int64_t bucket_gradients_ = 0;
  int64_t gradients_ = 0;  // All so far.
  int64_t full_buckets_ = 0;
  std::vector<int64_t> reduced_;  // Gradients of each bucket.
};

}  // namespace

Result<ir::Graph> BuildTorchrec(const Request& request) {
  StepBuilder step("model");
  Pipeline(request, step).Run();
  return std::move(step).Finish();
}

}  // namespace stepcast::workload
