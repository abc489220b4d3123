#include "model/frameworks/torchrec/torchrec_ids.h"

#include <vector>

#include "model/frameworks/embeddings.h"

namespace stepcast::model {
namespace {

// Of each kind of sharding, ranks tell each other how many lengths and ids
// come, and of how many samples.
constexpr int64_t kCounts = 3;

// Ids of one rank's samples in tables whose rows are on `ranks` ranks.
int64_t IdsOfSplit(std::vector<TableGroup> parts, int64_t ranks,
                   int64_t batch) {
  for (TableGroup& group : parts) {
    group.pooling *= static_cast<double>(ranks);
  }
  return LookupsOf(parts, batch);
}

// Ids of one rank's samples in tables whose rows are on the ranks of a node,
// of all nodes.
int64_t IdsOfNodes(const RankPlan& plan, int64_t batch) {
  if (plan.node_columns.empty()) {
    return 0;
  }
  if (plan.loads.empty()) {  // As if all nodes had as much.
    return plan.world / plan.ranks_per_node *
           IdsOfSplit(plan.node_split, plan.ranks_per_node, batch);
  }
  int64_t ids = 0;
  for (const RankLoad& load : plan.loads) {
    ids += load.node_ids;
  }
  return ids;
}

}  // namespace

TorchrecIds::TorchrecIds(const Request& request, StepBuilder& step,
                         const TorchrecStreams& streams)
    : model_(request.model),
      plan_(request.plan),
      step_(step),
      streams_(streams),
      batch_(request.settings.batch) {}

void TorchrecIds::Receive(const ir::EmbeddingBag& bag) {
  if (plan_.world == 1) {
    return;
  }
  step_.SetPhase(ir::Phase::kSparseDataDist);
  step_.UseStream(streams_.distribution);
  for (int i = 0; i < 2; ++i) {
    const OpScope op(step_, "record_param_comms");
    step_.WaitForStream(streams_.collective);
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
  step_.WaitForStream(streams_.distribution);
  step_.SetPhase(ir::Phase::kForward);
}

void TorchrecIds::ReadByHost(int64_t bytes) {
  step_.Op("aten::resolve_conj");
  step_.Op("aten::resolve_neg");
  const OpScope op(step_, "aten::to");
  step_.CopyToHost(bytes);
}

void TorchrecIds::Distribute() {
  step_.SetPhase(ir::Phase::kSparseDataDist);
  step_.UseStream(streams_.distribution);
  step_.WaitForStream(streams_.copy);
  for (int i = 0; i < 5; ++i) {
    step_.Op("aten::record_stream");
  }
  if (plan_.world > 1) {
    Send();
  }
  step_.UseStream(step_.compute_stream());
}

void TorchrecIds::CopyList(int64_t elements, ir::DType dtype) {
  step_.Op("aten::empty");
  {
    const OpScope op(step_, "aten::to");
    if (elements > 0) {
      step_.CopyToDevice(elements * ir::SizeOf(dtype), /*pinned=*/false,
                         /*waits=*/true);
    }
  }
  step_.Op("aten::lift_fresh");
  step_.Op("aten::detach_");
}

void TorchrecIds::Exchange(const ir::Collective& collective) {
  const OpScope op(step_, "c10d::alltoall_base_");
  step_.Collect(collective, streams_.collective);
}

Portions TorchrecIds::Evenly(int64_t elements) const {
  Portions portions{.own = elements, .all = elements * plan_.world};
  if (!plan_.loads.empty()) {
    portions.by_rank.assign(plan_.loads.size(), elements);
  }
  return portions;
}

// Tables, or slices of them, that are on one rank each.
int64_t TorchrecIds::TablesElsewhere() const {
  if (plan_.loads.empty()) {
    return TableCount(model_) - TablesOf(plan_.replicated) -
           TablesOf(plan_.split);
  }
  int64_t tables = 0;
  for (const RankLoad& load : plan_.loads) {
    tables += load.tables;
  }
  return tables;
}

void TorchrecIds::Send() {
  const int64_t bags = TableCount(model_) * batch_;
  const int64_t ids = LookupsOf(model_.tables, batch_);
  const int64_t elsewhere = TablesElsewhere();
  const int64_t split_ids = IdsOfSplit(plan_.split, plan_.world, batch_);
  const int64_t node_ids = IdsOfNodes(plan_, batch_);
  const int64_t counts = kCounts * (1 + (plan_.split.empty() ? 0 : 1) +
                                    (plan_.node_columns.empty() ? 0 : 1));
  step_.Op("aten::view");
  PermuteIds(step_, bags, ids);
  step_.Op("aten::view");
  for (int i = 0; i < 4; ++i) {
    step_.Op("aten::slice");
  }
  for (const int64_t sharded : {split_ids, node_ids}) {
    if (sharded == 0) {
      continue;
    }
    // Which rank has the row, for every id of tables that are split.
    const OpScope op(step_, "fbgemm::block_bucketize_sparse_features");
    step_.Launch(Stream(sharded, 1, ir::DType::kInt32));
    step_.Launch(ir::Index{.elements = sharded,
                           .source = sharded,
                           .scatter = true,
                           .dtype = ir::DType::kInt32});
  }
  for (int64_t i = 0; i < counts; ++i) {
    CopyList(plan_.world, ir::DType::kInt64);
  }
  step_.Op("aten::empty");
  {
    const OpScope op(step_, "aten::stack");
    step_.Launch(ir::Concat{.tensors = counts,
                            .elements = counts * plan_.world,
                            .dtype = ir::DType::kInt64});
  }
  step_.Op("aten::flatten");
  Exchange(ToSamples(plan_, Evenly(counts), ir::DType::kInt64));
  {
    const OpScope op(step_, "record_param_comms");
    step_.WaitForStream(streams_.collective);
  }
  step_.Op("aten::view");
  step_.Op("aten::numpy_T");
  ReadByHost(counts * plan_.world * ir::SizeOf(ir::DType::kInt64));
  if (elsewhere > 0) {
    CopyList(TablesOf(plan_.local) * plan_.world, ir::DType::kInt32);
    step_.Op("aten::empty");
    Exchange(
        ToTables(plan_,
                 PortionsOf(plan_, &RankLoad::tables, batch_,
                            {.own = TablesOf(plan_.local), .all = elsewhere}),
                 ir::DType::kInt32));
    step_.Op("aten::empty");
    Exchange(
        ToTables(plan_,
                 PortionsOf(plan_, &RankLoad::ids, 1,
                            {.own = LookupsOf(plan_.local, batch_),
                             .all = ids - LookupsOf(plan_.replicated, batch_) -
                                    split_ids - node_ids}),
                 ir::DType::kInt32));
  }
  if (!plan_.split.empty()) {
    CopyList(TablesOf(plan_.split) * plan_.world, ir::DType::kInt32);
    step_.Op("aten::empty");
    Exchange(ToTables(plan_, Evenly(TablesOf(plan_.split) * batch_),
                      ir::DType::kInt32));
    step_.Op("aten::empty");
    Exchange(ToTables(plan_, Evenly(LookupsOf(plan_.split, batch_)),
                      ir::DType::kInt32));
  }
  if (!plan_.node_columns.empty()) {
    SendToNodes(node_ids);
  }
}

// Lengths and ids of tables that are split over nodes.
void TorchrecIds::SendToNodes(int64_t ids) {
  const int64_t tables = TablesOf(plan_.node_split);
  CopyList(tables * plan_.world, ir::DType::kInt32);
  step_.Op("aten::empty");
  Exchange(ToTables(plan_,
                    PortionsOf(plan_, &RankLoad::node_tables, batch_,
                               {.own = tables, .all = tables * plan_.world}),
                    ir::DType::kInt32));
  step_.Op("aten::empty");
  Exchange(ToTables(
      plan_,
      PortionsOf(plan_, &RankLoad::node_ids, 1,
                 {.own = LookupsOf(plan_.node_split, batch_), .all = ids}),
      ir::DType::kInt32));
}

}  // namespace stepcast::model
