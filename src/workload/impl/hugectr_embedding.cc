#include "workload/impl/hugectr_embedding.h"

#include <algorithm>
#include <cmath>

#include "workload/embedding_stats.h"

namespace stepcast::workload {
namespace {

int64_t ElementsOf(const std::vector<TableGroup>& tables) {
  int64_t elements = 0;
  for (const TableGroup& group : tables) {
    elements += group.count * group.rows * group.dim;
  }
  return elements;
}

// Vectors that a rank makes of its rows of split tables for `batch` samples: a
// bag of which it has no row makes none.
int64_t SplitElements(const std::vector<TableGroup>& split, int64_t batch) {
  double columns = 0;
  for (const TableGroup& group : split) {
    columns += static_cast<double>(group.count * group.dim) *
               std::min(1.0, group.pooling);
  }
  return std::llround(std::ceil(columns * static_cast<double>(batch)));
}

Portions VectorPortions(const Request& request) {
  const RankPlan& plan = request.plan;
  const int64_t batch = request.settings.batch;
  Portions portions =
      PortionsOf(plan, &RankLoad::columns, batch,
                 {.own = ColumnsOf(plan.local),
                  .all = EmbeddingWidth(request.model) -
                         ColumnsOf(plan.replicated) - ColumnsOf(plan.split)});
  // Alike on all ranks: ids are spread evenly.
  const int64_t split = SplitElements(plan.split, batch);
  portions.own += split;
  portions.all += split * plan.world;
  for (int64_t& portion : portions.by_rank) {
    portion += split;
  }
  return portions;
}

}  // namespace

HugectrEmbedding::HugectrEmbedding(const Request& request, Torch& torch)
    : model_(request.model),
      settings_(request.settings),
      plan_(request.plan),
      torch_(torch),
      step_(torch.step()),
      collective_(request.plan.world > 1
                      ? torch.step().AddStream(kCollectiveStream)
                      : ir::StreamId{}),
      owned_(request.plan.local),
      portions_(VectorPortions(request)) {
  owned_.insert(owned_.end(), plan_.split.begin(), plan_.split.end());
}

void HugectrEmbedding::Kernel(const ir::KernelShape& shape) {
  const OpScope scope(step_, "Embedding");
  step_.Launch(shape);
}

std::optional<ir::EmbeddingBag> HugectrEmbedding::Bag(
    const std::vector<TableGroup>& tables, int64_t batch) const {
  if (tables.empty()) {
    return std::nullopt;
  }
  return Lookup(tables, {.batch = batch,
                         .dtype = torch_.options().types.parameter,
                         .index_dtype = ir::DType::kInt32,
                         .alpha = CommonAlpha(tables, batch, settings_.seed)});
}

// Of split tables, every rank has something for every other one.
int64_t HugectrEmbedding::parts() const {
  return plan_.split.empty() ? std::ssize(PartsOf(plan_, portions_))
                             : plan_.world;
}

int64_t HugectrEmbedding::ids() const {
  return LookupsOf(owned_, settings_.batch * plan_.world) +
         LookupsOf(plan_.replicated, settings_.batch);
}

void HugectrEmbedding::LookUp() {
  if (const auto bag = Bag(owned_, settings_.batch * plan_.world)) {
    Kernel(*bag);
  }
  if (exchanges()) {
    const OpScope scope(step_, "AllToAll");
    step_.Collect(
        ToSamples(plan_, portions_, torch_.options().types.activation),
        collective_);
  }
  if (const auto bag = Bag(plan_.replicated, settings_.batch)) {
    Kernel(*bag);
  }
}

Tensor HugectrEmbedding::Receive() {
  const ir::DType dtype = torch_.options().types.activation;
  if (exchanges()) {
    // What came of each rank, in the order of the features; parts of split
    // bags are added up.
    step_.WaitForStream(collective_);
    Kernel(ir::Concat{
        .tensors = parts(), .elements = portions_.all, .dtype = dtype});
  }
  return {.rows = settings_.batch,
          .columns = EmbeddingWidth(model_),
          .dtype = dtype,
          .grad = torch_.options().train};
}

void HugectrEmbedding::SendGradients() {
  if (!exchanges()) {
    return;
  }
  const ir::DType dtype = torch_.options().types.activation;
  Kernel(ir::Concat{
      .tensors = parts(), .elements = portions_.all, .dtype = dtype});
  const OpScope scope(step_, "AllToAll");
  step_.Collect(ToTables(plan_, portions_, dtype), collective_);
}

void HugectrEmbedding::Sum(int64_t elements, ir::DType dtype) {
  const OpScope scope(step_, "AllReduce");
  step_.Collect(Collect(ir::CollectiveKind::kAllReduce, plan_, elements, dtype),
                collective_);
}

void HugectrEmbedding::Reduce(int64_t parameters) {
  if (alone()) {
    return;
  }
  const Types& types = torch_.options().types;
  if (auto bag = Bag(plan_.replicated, settings_.batch)) {
    // A gradient of all rows, to be summed.
    Kernel(Zeros(ElementsOf(plan_.replicated), types.parameter));
    bag->pass = ir::Pass::kBackward;
    Kernel(*bag);
  }
  // Rows are updated behind their gradients' arrival, beside the sums.
  step_.WaitForStream(collective_);
  if (!plan_.replicated.empty()) {
    Sum(ElementsOf(plan_.replicated), types.parameter);
  }
  Sum(parameters, types.activation);
}

void HugectrEmbedding::Update() {
  if (auto bag = Bag(owned_, settings_.batch * plan_.world)) {
    bag->pass = ir::Pass::kBackward;
    bag->update = UpdateOf(model_.table_optimizer);
    Kernel(*bag);
  }
}

void HugectrEmbedding::FinishReduction() {
  if (alone()) {
    return;
  }
  step_.WaitForStream(collective_);
  if (!plan_.replicated.empty()) {
    Kernel(ir::OptimizerStep{.update = UpdateOf(model_.table_optimizer),
                             .tensors = TablesOf(plan_.replicated),
                             .elements = ElementsOf(plan_.replicated),
                             .dtype = torch_.options().types.parameter});
  }
}

}  // namespace stepcast::workload
