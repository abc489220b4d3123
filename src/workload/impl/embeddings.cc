#include "workload/impl/embeddings.h"

#include <span>

#include "workload/impl/exchange.h"
#include "workload/impl/placed_lookup.h"

namespace stepcast::workload {
namespace {

// One table of a group.
TableGroup Single(const TableGroup& group) {
  TableGroup single = group;
  single.count = 1;
  return single;
}

// The gradient's row of every id, side by side.
ir::KernelShape GatherGradients(const ir::EmbeddingBag& bag) {
  return ir::Index{.elements = bag.lookups * bag.dim,
                   .source = bag.batch * bag.dim,
                   .slice = bag.dim,
                   .dtype = bag.dtype};
}

Tensor LookUpBag(Torch& torch, const TableGroup& group,
                 const LookupOptions& options) {
  const TableGroup table = Single(group);
  const ir::EmbeddingBag bag = Lookup({&table, 1}, options);
  {
    const OpScope op(torch.step(), "aten::embedding_bag");
    torch.step().Launch(bag);
  }
  torch.OnBackward([&torch, bag] {
    // A sparse gradient: which sample each id was of, and its gradient.
    torch.Node("EmbeddingBagBackward0", GatherGradients(bag));
    const NodeScope node(torch, "torch::autograd::AccumulateGrad");
  });
  return {.rows = options.batch,
          .columns = group.dim,
          .dtype = options.dtype,
          .grad = true};
}

// What embedding_dense_backward does before it sums: ids are copied and
// numbered, sorted by Thrust with all their bits, a digit of eight a pass, and
// counted.
void ThrustSortIds(StepBuilder& step, const ir::EmbeddingBag& bag) {
  constexpr int64_t kDigitBytes = 1;
  const auto launch = [&](ir::SortKind kind) {
    step.Launch(ir::Sort{
        .kind = kind, .elements = bag.lookups, .dtype = bag.index_dtype});
  };
  step.Launch(Stream(bag.lookups, 1, bag.index_dtype));
  step.Launch(Stream(bag.lookups, 0, bag.index_dtype));
  for (int64_t i = 0; i < ir::SizeOf(bag.index_dtype) / kDigitBytes; ++i) {
    launch(ir::SortKind::kSort);
  }
  launch(ir::SortKind::kUnique);
  launch(ir::SortKind::kScan);
}

// Ids are sorted, so that a row's gradients lie side by side, and summed into a
// tensor of all rows; the table is a parameter like others.
Tensor LookUpDense(Torch& torch, const TableGroup& group,
                   const LookupOptions& options) {
  const TableGroup table = Single(group);
  const ir::EmbeddingBag bag = Lookup({&table, 1}, options);
  const int64_t elements = table.rows * table.dim;
  {
    const OpScope op(torch.step(), "aten::embedding_bag");
    torch.step().Launch(bag);
  }
  torch.AddParameter(elements);
  torch.OnBackward([&torch, bag, elements] {
    {
      const NodeScope node(torch, "EmbeddingBagBackward0");
      StepBuilder& step = torch.step();
      step.Launch(Zeros(elements, bag.dtype));
      ThrustSortIds(step, bag);
      ir::EmbeddingBag backward = bag;
      backward.pass = ir::Pass::kBackward;
      backward.kernel = ir::BagKernel::kTableBatched;
      backward.part = ir::BagPart::kShortRuns;
      step.Launch(backward);
    }
    torch.AccumulateGrad(elements);
  });
  return {.rows = options.batch,
          .columns = group.dim,
          .dtype = options.dtype,
          .grad = true};
}

// All tables in one kernel, updated by one in the backward pass.
void LookUpBatched(Torch& torch, const std::vector<TableGroup>& tables,
                   ir::Update update, const LookupOptions& options) {
  const ir::EmbeddingBag bag = Lookup(tables, options);
  if (tables.front().placement == Placement::kHostCache) {
    FillCacheByHost(torch.step(), tables, options.batch, /*seed=*/1);
  }
  FillCache(torch.step(), bag);
  {
    const OpScope op(torch.step(), "LookupFunction");
    torch.step().Launch(bag);
  }
  torch.OnBackward([&torch, bag, update] {
    ir::EmbeddingBag backward = bag;
    backward.pass = ir::Pass::kBackward;
    backward.update = update;
    torch.Node("LookupFunctionBackward", backward);
    // The tables have no gradient of their own: nothing is added.
    const OpScope op(torch.step(), torch.before_2022()
                                       ? "torch::autograd::AccumulateGrad"
                                       : "autograd::engine::evaluate_function: "
                                         "torch::autograd::AccumulateGrad");
  });
}

}  // namespace

std::vector<Tensor> LookUp(Torch& torch, const Model& model, LookupStyle style,
                           const LookupOptions& options) {
  std::vector<Tensor> vectors;
  if (style != LookupStyle::kBatched) {
    const auto look_up = style == LookupStyle::kBags ? LookUpBag : LookUpDense;
    for (const TableGroup& group : model.tables) {
      for (int64_t i = 0; i < group.count; ++i) {
        vectors.push_back(look_up(torch, group, options));
      }
    }
    return vectors;
  }
  for (const std::vector<TableGroup>& placed : ByPlacement(model.tables)) {
    if (LookedUpByHost(placed.front())) {
      LookUpOnHost(torch, placed, options.batch, model.table_optimizer,
                   /*seed=*/1);
    } else {
      LookUpBatched(torch, placed, UpdateOf(model.table_optimizer), options);
    }
    vectors.push_back({.rows = options.batch,
                       .columns = ColumnsOf(placed),
                       .dtype = options.dtype,
                       .grad = true});
  }
  return vectors;
}

void UpdateBags(Torch& torch, const Model& model,
                const LookupOptions& options) {
  for (const TableGroup& group : model.tables) {
    const TableGroup table = Single(group);
    ir::EmbeddingBag bag = Lookup({&table, 1}, options);
    bag.pass = ir::Pass::kBackward;
    bag.update = UpdateOf(model.table_optimizer);
    // Adding a sparse tensor adds row by row, unsorted.
    bag.kernel = ir::BagKernel::kAtomic;
    for (int64_t i = 0; i < group.count; ++i) {
      const OpScope op(torch.step(), "aten::add_");
      if (bag.update == ir::Update::kSgd) {
        // The gradient's values times the learning rate, ids in one dimension.
        torch.step().Launch(Stream(bag.lookups * bag.dim, 1, bag.dtype));
        torch.step().Launch(Stream(bag.lookups, 1, ir::DType::kInt64));
      }
      torch.step().Launch(bag);
    }
  }
}

}  // namespace stepcast::workload
