#include "model/networks/interaction.h"

#include <vector>

namespace stepcast::model {
namespace {

// Sizes of a dot interaction.
struct Dot {
  int64_t batch = 0;
  int64_t features = 0;
  int64_t dim = 0;
  int64_t pairs = 0;
  int64_t padding = 1;
  bool dense = false;
  Triangle triangle = Triangle::kLists;
  ir::DType product = ir::DType::kFp32;
  ir::DType dtype = ir::DType::kFp32;

  int64_t square() const { return batch * features * features; }
  int64_t pair_bytes() const { return pairs * ir::SizeOf(ir::DType::kInt64); }
  ir::Gemm Batched(int64_t m, int64_t n, int64_t k) const {
    return {.batch = batch, .m = m, .n = n, .k = k, .dtype = product};
  }
  ir::KernelShape OnPairs(int64_t inputs) const {
    return Stream(pairs, inputs, ir::DType::kInt64);
  }
};

// The pairs' positions come from lists on the host, in every step.
void CopyPairs(Torch& torch, const Dot& dot) {
  for (int i = 0; i < 2; ++i) {
    torch.step().CopyToDevice(dot.pair_bytes(), /*pinned=*/false,
                              /*waits=*/true);
  }
}

// index_put with accumulation: zeros, arithmetic on the positions, a sort of
// them, the gradient with the samples innermost, and the scatter itself.
void IndexBackward(Torch& torch, const Dot& dot) {
  StepBuilder& step = torch.step();
  const NodeScope node(torch, "IndexBackward0");
  step.Launch(Zeros(dot.square(), dot.dtype));
  if (torch.before_2022()) {
    for (int i = 0; i < 5; ++i) {
      step.Launch(dot.OnPairs(1));
    }
  } else {
    CopyPairs(torch, dot);
  }
  step.Launch(dot.OnPairs(1));
  step.Launch(ir::Transpose{
      .elements = dot.batch * dot.pairs, .run = 1, .dtype = dot.dtype});
  if (!torch.before_2022()) {
    step.Launch(dot.OnPairs(1));
  }
  step.Launch(dot.OnPairs(1));  // 0, 1, 2, ...
  step.Launch(ir::Sort{.elements = dot.pairs, .dtype = ir::DType::kInt64});
  step.Launch(ir::Index{.elements = dot.batch * dot.pairs,
                        .source = dot.square(),
                        .scatter = true,
                        .accumulate = true,
                        .slice = 1,
                        .dtype = dot.dtype});
}

// The lower triangle of the products, without the diagonal.
void TakeTriangle(Torch& torch, const Dot& dot) {
  StepBuilder& step = torch.step();
  for (int i = 0; i < 2; ++i) {
    if (dot.triangle == Triangle::kSelected) {
      step.Op("aten::select");
      continue;
    }
    step.Op("aten::empty");  // A list becomes a tensor on the host.
    step.Op("aten::to");
    step.Op("aten::detach_");
  }
  step.Op("aten::slice");
  torch.OnBackward([&torch, dot] {
    const NodeScope node(torch, "SliceBackward0");
    torch.step().Launch(Zeros(dot.square(), dot.dtype));
    torch.step().CopyOnDevice(dot.square() * ir::SizeOf(dot.dtype));
  });
  if (torch.before_2022()) {
    for (int i = 0; i < 2; ++i) {
      const OpScope op(step, "aten::to");
      step.CopyToDevice(dot.pair_bytes(), /*pinned=*/false, /*waits=*/true);
    }
  }
  {
    const OpScope op(step, "aten::index");
    if (!torch.before_2022()) {
      CopyPairs(torch, dot);
    }
    step.Launch(ir::Index{.elements = dot.batch * dot.pairs,
                          .source = dot.square(),
                          .slice = 1,
                          .dtype = dot.dtype});
  }
  torch.OnBackward([&torch, dot] { IndexBackward(torch, dot); });
}

// All vectors of a sample in one tensor.
Tensor Gather(Torch& torch, const Dot& dot, const Tensor& dense,
              std::span<const Tensor> vectors) {
  const auto dense_sum = [&torch, dot] {
    if (dot.dense) {
      torch.AddGradients(Stream(dot.batch * dot.dim, 2, dot.dtype));
    }
  };
  std::vector<Tensor> parts;
  if (dot.dense) {
    parts.push_back(dense);
  }
  parts.insert(parts.end(), vectors.begin(), vectors.end());
  const bool batched = vectors.size() == 1;
  if (batched && dot.dense) {
    const bool lists = dot.triangle == Triangle::kLists;
    torch.step().Op(lists ? "aten::view" : "aten::unsqueeze");
    torch.OnBackward([&torch, dense_sum, lists] {
      const NodeScope node(torch,
                           lists ? "ViewBackward0" : "UnsqueezeBackward0");
      dense_sum();
    });
  }
  // One tensor per table: the dense vector's gradient comes right out of cat.
  const Tensor joined = torch.Join(parts);
  torch.OnBackward([&torch, dense_sum, batched, parts, joined] {
    {
      const NodeScope node(torch, "CatBackward0");
      if (!batched) {
        dense_sum();
      }
    }
    for (const Tensor& part : parts) {
      torch.UncastPart(part, joined.dtype);
    }
  });
  if (!batched) {
    torch.step().Op("aten::view");
    torch.OnBackward([&torch] { torch.Node("ViewBackward0"); });
  }
  return joined;
}

// Whether reading the transposed gradient costs one sector of memory per
// element. ATen's blocks compute 256 results (64 threads with four each); where
// these are rows side by side, the rows' neighbours in memory share a sector,
// which the block finds in its own cache.
bool IsScattered(int64_t columns) {
  constexpr int64_t kBlockResults = 256;
  return columns >= kBlockResults;
}

// Every vector of a sample times every other. Autocast casts either factor for
// itself: what it keeps are casts of parameters alone (ATen's
// autocast_mode.cpp, cached_cast).
void MultiplyVectors(Torch& torch, const Dot& dot, const Tensor& joined) {
  constexpr int kFactors = 2;
  {
    const OpScope op(torch.step(), "aten::bmm");
    for (int i = 0; i < kFactors; ++i) {
      torch.CastInside(joined.elements(), joined.dtype, dot.dtype);
    }
    ir::Gemm products = dot.Batched(dot.features, dot.features, dot.dim);
    products.transpose_b = true;
    torch.BatchedProduct(products);
  }
  torch.OnBackward([&torch, dot, joined] {
    {
      const NodeScope node(torch, "BmmBackward0");
      ir::Gemm right = dot.Batched(dot.dim, dot.features, dot.features);
      right.transpose_a = true;
      torch.BatchedProduct(right);
      torch.BatchedProduct(dot.Batched(dot.features, dot.dim, dot.features));
    }
    for (int i = 0; i < kFactors; ++i) {
      torch.UncastPart(joined, dot.dtype);
    }
  });
}

Tensor DotInteraction(Torch& torch, const Dot& dot, const Tensor& dense,
                      std::span<const Tensor> vectors) {
  StepBuilder& step = torch.step();
  const Tensor joined = Gather(torch, dot, dense, vectors);
  step.Op("aten::transpose");
  // Both factors are the same vectors; the gradient of the second comes
  // transposed.
  torch.OnBackward([&torch, dot, joined] {
    const NodeScope node(torch, "TransposeBackward0");
    torch.AddGradients(ir::Elementwise{.elements = joined.elements(),
                                       .read = {2 * joined.bytes()},
                                       .written = {joined.bytes()},
                                       .dtype = joined.dtype,
                                       .scattered = IsScattered(dot.dim)});
  });
  MultiplyVectors(torch, dot, joined);
  TakeTriangle(torch, dot);
  const Tensor pairs{.rows = dot.batch,
                     .columns = dot.pairs,
                     .dtype = dot.dtype,
                     .grad = torch.options().train};
  std::vector<Tensor> parts;
  if (dot.dense) {
    parts.push_back(dense);
  }
  parts.push_back(pairs);
  if (const int64_t over = (dense.columns + dot.pairs) % dot.padding;
      over != 0) {
    parts.push_back(
        {.rows = dot.batch, .columns = dot.padding - over, .dtype = dot.dtype});
  }
  return parts.size() > 1 ? torch.Cat(parts) : pairs;
}

// x0 * (U (V x) + b) + x
Tensor Cross(Torch& torch, const Tensor& first, const Tensor& x, int64_t rank) {
  const Tensor low = torch.Linear(x, rank, /*bias=*/false);
  const Tensor full = torch.Linear(low, x.columns);
  const Tensor product = torch.Mul(first, full);
  return torch.Add(product, x);
}

}  // namespace

Tensor Interact(Torch& torch, const Model& model, const Tensor& dense,
                std::span<const Tensor> vectors, Triangle triangle) {
  if (model.interaction.kind == InteractionKind::kDot) {
    const int64_t features = TableCount(model) + (dense.columns > 0 ? 1 : 0);
    return DotInteraction(torch,
                          {.batch = dense.rows,
                           .features = features,
                           .dim = model.tables.front().dim,
                           .pairs = features * (features - 1) / 2,
                           .padding = model.interaction.padding,
                           .dense = dense.columns > 0,
                           .triangle = triangle,
                           .product = torch.options().types.product,
                           .dtype = torch.options().types.activation},
                          dense, vectors);
  }
  std::vector<Tensor> parts;
  if (dense.columns > 0) {
    parts.push_back(dense);
  }
  parts.insert(parts.end(), vectors.begin(), vectors.end());
  Tensor x = parts.size() > 1 ? torch.Cat(parts) : parts.front();
  const Tensor first = x;
  for (int64_t i = 0; i < model.interaction.cross_layers; ++i) {
    x = Cross(torch, first, x, model.interaction.cross_rank);
  }
  return x;
}

}  // namespace stepcast::model
