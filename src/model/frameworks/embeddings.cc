#include "model/frameworks/embeddings.h"

#include <bit>
#include <span>
#include <string>
#include <utility>

#include "model/frameworks/exchange.h"
#include "model/frameworks/placed_lookup.h"

namespace stepcast::model {
namespace {

constexpr int64_t kInt32Bytes = 4;
constexpr int64_t kInt64Bytes = 8;

// cub sorts up to so many keys in one block; more take one histogram, one scan
// and a pass for each digit of 8 bits. The 8-rank DLRM trace changes between
// 2304 and 4736 ids.
constexpr int64_t kSingleTileKeys = 4096;
constexpr int64_t kDigitBits = 8;

ir::KernelShape SortShape(ir::SortKind kind, int64_t elements,
                          ir::DType dtype) {
  return ir::Sort{.kind = kind, .elements = elements, .dtype = dtype};
}

// cub's scan: its state is set up by a kernel of its own.
void Scan(StepBuilder& step, int64_t elements, ir::DType dtype) {
  step.Launch(Zeros(1, dtype));
  step.Launch(SortShape(ir::SortKind::kScan, elements, dtype));
}

void CubSortIds(StepBuilder& step, const ir::EmbeddingBag& bag) {
  const ir::KernelShape pass =
      SortShape(ir::SortKind::kSort, bag.lookups, ir::DType::kInt64);
  if (bag.lookups <= kSingleTileKeys) {
    step.Launch(pass);
    return;
  }
  const auto bits =
      static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(bag.rows)));
  const int64_t passes = (bits + kDigitBits - 1) / kDigitBits;
  step.Memset(passes * (int64_t{1} << kDigitBits) * kInt32Bytes);
  step.Launch(SortShape(ir::SortKind::kScan, bag.lookups, ir::DType::kInt64));
  step.Launch(SortShape(ir::SortKind::kScan,
                        passes * (int64_t{1} << kDigitBits),
                        ir::DType::kInt32));
  for (int64_t i = 0; i < passes; ++i) {
    step.Memset(kInt32Bytes * (int64_t{1} << kDigitBits));
    step.Launch(pass);
  }
}

// Ids made unique over the tables, sorted, and counted; rows with many lookups
// found; then the two kernels that sum gradients and update rows.
void Backward(Torch& torch, const ir::EmbeddingBag& bag, ir::Update update) {
  StepBuilder& step = torch.step();
  const ir::DType ids = ir::DType::kInt64;
  step.Launch(Stream(bag.lookups, 1, ids));
  CubSortIds(step, bag);
  step.Launch(Zeros(bag.lookups, ir::DType::kInt32));
  step.Launch(Zeros(1, ir::DType::kInt32));
  step.Launch(Zeros(1, ir::DType::kInt32));
  step.Launch(SortShape(ir::SortKind::kUnique, bag.lookups, ids));
  step.Launch(Zeros(1, ir::DType::kInt32));
  Scan(step, bag.lookups, ids);
  step.Launch(Zeros(1, ir::DType::kInt32));
  step.Launch(Zeros(1, ir::DType::kInt32));
  step.Launch(Stream(bag.lookups, 1, ids));
  if (update != ir::Update::kNone) {
    step.Launch(Zeros(bag.dim, ir::DType::kFp32));
  }
  ir::EmbeddingBag part = bag;
  part.pass = ir::Pass::kBackward;
  part.update = update;
  part.part = ir::BagPart::kLongRuns;
  step.Launch(part);
  part.part = ir::BagPart::kShortRuns;
  step.Launch(part);
}

// As in fbgemm's names: "rowwise_adagrad".
std::string FunctionOf(Optimizer optimizer) {
  return std::string(Name(optimizer));
}

}  // namespace

void PermuteIds(StepBuilder& step, int64_t bags, int64_t ids) {
  const ir::DType dtype = ir::DType::kInt32;
  const OpScope op(step, "fbgemm::permute_2D_sparse_data");
  step.Launch(
      ir::Index{.elements = bags, .source = bags, .slice = 1, .dtype = dtype});
  Scan(step, bags, dtype);
  step.Launch(Zeros(1, dtype));
  Scan(step, bags, dtype);
  step.Launch(ir::Index{.elements = ids, .source = ids, .dtype = dtype});
}

void PrepareIds(StepBuilder& step, const ir::EmbeddingBag& bag) {
  const int64_t bags = bag.tables * bag.batch;
  const auto widen = [&](int64_t elements) {
    const OpScope op(step, "aten::to");
    step.Launch(Cast(elements, ir::DType::kInt32, ir::DType::kInt64));
  };
  widen(bag.lookups);
  {
    const OpScope op(step, "fbgemm::asynchronous_complete_cumsum");
    step.Launch(Zeros(1, ir::DType::kInt32));
    Scan(step, bags, ir::DType::kInt32);
  }
  widen(bags + 1);
  step.Op("aten::to");
  step.Op("aten::to");
}

void LookUpSplit(Torch& torch, const ir::EmbeddingBag& bag,
                 Optimizer optimizer) {
  StepBuilder& step = torch.step();
  {
    const OpScope op(step, "fbgemm::bounds_check_indices");
    step.Launch(ir::Fill{.bytes = {kInt64Bytes}});
    step.Launch(Stream(bag.lookups, 1, ir::DType::kInt64));
  }
  {
    const OpScope op(step, "fbgemm::split_embedding_codegen_lookup_" +
                               FunctionOf(optimizer) + "_function");
    step.Launch(bag);
  }
  torch.OnBackward([&torch, bag, optimizer] {
    const NodeScope node(torch,
                         "torch::autograd::CppNode<SplitLookupFunction_" +
                             FunctionOf(optimizer) + "_Op>");
    Backward(torch, bag, UpdateOf(optimizer));
  });
}

void LookUpDense(Torch& torch, const ir::EmbeddingBag& bag, int64_t elements,
                 std::function<void()> reduce) {
  {
    const OpScope op(torch.step(),
                     "fbgemm::dense_embedding_codegen_lookup_function");
    torch.step().Launch(bag);
  }
  torch.OnBackward([&torch, bag, elements, reduce = std::move(reduce)] {
    {
      const NodeScope node(
          torch, "torch::autograd::CppNode<SplitLookupFunction_Dense_Op>");
      torch.step().Launch(Zeros(elements, ir::DType::kFp32));
      Backward(torch, bag, ir::Update::kNone);
    }
    const NodeScope node(torch, "torch::autograd::AccumulateGrad");
    reduce();
  });
}

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

// Ids are sorted, so that a row's gradients are contiguous, and summed into a
// tensor of all rows; the table is a parameter like others.
Tensor LookUpWithSort(Torch& torch, const TableGroup& group,
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
    const auto look_up =
        style == LookupStyle::kBags ? LookUpBag : LookUpWithSort;
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

}  // namespace stepcast::model
