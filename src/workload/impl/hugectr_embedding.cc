#include "workload/impl/hugectr_embedding.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "workload/embedding_stats.h"

namespace stepcast::workload {
namespace {

// Vectors that a rank makes of its rows of split tables for `batch` samples. In
// a CUDA graph sizes are those of all bags, whether a rank has rows of them or
// not; of hot and other rows one has each id.
int64_t SplitElements(const RankPlan& plan, int64_t batch) {
  double columns = 0;
  for (const TableGroup& group : plan.split) {
    columns += static_cast<double>(group.count * group.dim) *
               (plan.hot_rows ? group.pooling : 1.0);
  }
  return std::llround(std::ceil(columns * static_cast<double>(batch)));
}

Portions VectorPortions(const Request& request) {
  const RankPlan& plan = request.plan;
  const int64_t batch = request.settings.batch;
  // Hot rows and those on nodes leave no table whole.
  const bool whole = !plan.hot_rows && plan.node_columns.empty();
  Portions portions = PortionsOf(
      plan, &RankLoad::columns, batch,
      {.own = ColumnsOf(plan.local),
       .all = whole ? EmbeddingWidth(request.model) -
                          ColumnsOf(plan.replicated) - ColumnsOf(plan.split)
                    : 0});
  // Alike on all ranks: ids are spread evenly.
  const int64_t split = SplitElements(plan, batch);
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
  owned_.insert(owned_.end(), plan_.node_split.begin(), plan_.node_split.end());
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
  ir::EmbeddingBag bag =
      Lookup(tables, {.batch = batch,
                      .dtype = torch_.options().types.parameter,
                      .index_dtype = ir::DType::kInt32,
                      .alpha = CommonAlpha(tables, batch, settings_.seed)});
  if (plan_.hot_rows) {
    // A list of rows to gather: samples have theirs in one of two lists.
    bag.batch = std::max<int64_t>(bag.lookups, 1);
    bag.tables = 1;
    bag.pooled = false;
    bag.longest_bag = 0;
    bag.max_dim = 0;
    bag.table_rows.clear();
    bag.table_dims.clear();
    bag.table_lookups.clear();
  }
  return bag;
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

int64_t HugectrEmbedding::received() const {
  return portions_.all +
         settings_.batch * std::accumulate(plan_.node_columns.begin(),
                                           plan_.node_columns.end(),
                                           int64_t{0});
}

// Every rank of a node has a part of each of the node's vectors, of samples of
// all ranks. Summed, each keeps those of the ranks that have its place on their
// nodes, and sends them there.
void HugectrEmbedding::ExchangeOverNodes(bool forward) {
  const int64_t on_node = plan_.world / plan_.nodes;
  const ir::DType dtype = torch_.options().types.activation;
  const int64_t place_elements =
      settings_.batch * plan_.nodes *
      std::max<int64_t>(ColumnsOf(plan_.node_split), 1);
  ir::Collective within = Collect(
      forward ? ir::CollectiveKind::kReduceScatter
              : ir::CollectiveKind::kAllGather,
      plan_, forward ? place_elements * on_node : place_elements, dtype);
  within.group_size = on_node;
  ir::Collective across =
      Collect(ir::CollectiveKind::kAllToAll, plan_, place_elements, dtype);
  across.group_size = plan_.nodes;
  const OpScope scope(step_, "AllToAll");
  if (forward && on_node > 1) {
    step_.Collect(within, collective_);
  }
  step_.Collect(across, collective_);
  if (!forward && on_node > 1) {
    step_.Collect(within, collective_);
  }
}

void HugectrEmbedding::LookUp() {
  if (const auto bag = Bag(owned_, settings_.batch * plan_.world)) {
    Kernel(*bag);
  }
  if (over_nodes()) {
    ExchangeOverNodes(/*forward=*/true);
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

void HugectrEmbedding::Arrange() {
  Kernel(ir::Concat{.tensors = std::max(parts(), plan_.nodes),
                    .elements = received(),
                    .dtype = torch_.options().types.activation});
}

Tensor HugectrEmbedding::Receive() {
  if (exchanges() || over_nodes()) {
    // What came of each rank, in the order of the features; parts of split
    // bags are added up.
    step_.WaitForStream(collective_);
    Arrange();
  }
  return {.rows = settings_.batch,
          .columns = EmbeddingWidth(model_),
          .dtype = torch_.options().types.activation,
          .grad = torch_.options().train};
}

void HugectrEmbedding::SendGradients() {
  if (!exchanges() && !over_nodes()) {
    return;
  }
  Arrange();
  if (over_nodes()) {
    ExchangeOverNodes(/*forward=*/false);
  }
  if (exchanges()) {
    const OpScope scope(step_, "AllToAll");
    step_.Collect(ToTables(plan_, portions_, torch_.options().types.activation),
                  collective_);
  }
}

// On one node only the hot rows of a batch are summed, by links that all have
// to all; over several nodes all of them.
int64_t HugectrEmbedding::hot_elements() const {
  if (!plan_.hot_rows || plan_.nodes > 1) {
    return ElementsOf(plan_.replicated);
  }
  double elements = 0;
  for (const TableGroup& group : plan_.replicated) {
    const EmbeddingStats stats(group.ids, group.rows, settings_.seed);
    elements +=
        static_cast<double>(group.count * group.dim) *
        stats.UniqueRows(group.pooling * static_cast<double>(settings_.batch));
  }
  return std::llround(std::ceil(elements));
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
  // All in one, in the products' type.
  Sum(parameters + hot_elements(), types.activation);
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
