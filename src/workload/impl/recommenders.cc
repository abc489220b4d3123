#include "workload/impl/recommenders.h"

#include <vector>

#include "base/check.h"
#include "workload/impl/interaction.h"

namespace stepcast::workload {
namespace {

Tensor Dlrm(Torch& torch, const Model& model, const Tensor& dense,
            LookupStyle style, const LookupOptions& options) {
  torch.Label();
  const Tensor bottom = torch.Mlp(dense, model.bottom_mlp, /*last_relu=*/true);
  torch.Label();
  if (torch.before_2022() && style == LookupStyle::kBatched) {
    torch.step().Op("aten::to");
    torch.step().Op("aten::to");
  }
  const std::vector<Tensor> vectors = LookUp(torch, model, style, options);
  torch.Label();
  const Tensor meeting = Interact(torch, model, bottom, vectors);
  torch.Label();
  return torch.Mlp(meeting, model.top_mlp, /*last_relu=*/false, model.dropout);
}

// Embeddings and dense features side by side, through the MLP.
Tensor Deep(Torch& torch, const Model& model, const Tensor& dense,
            const std::vector<Tensor>& vectors) {
  std::vector<Tensor> parts = vectors;
  if (dense.columns > 0) {
    parts.push_back(dense);
  }
  const Tensor x = parts.size() > 1 ? torch.Cat(parts) : parts.front();
  return torch.Mlp(x, model.top_mlp, /*last_relu=*/false, model.dropout);
}

// One weight a row instead of a vector: a linear model of the ids.
Tensor Wide(Torch& torch, const Model& model, LookupStyle style,
            const LookupOptions& options) {
  Model weights = model;
  for (TableGroup& group : weights.tables) {
    group.dim = 1;
  }
  const std::vector<Tensor> parts = LookUp(torch, weights, style, options);
  const Tensor all = parts.size() > 1 ? torch.Cat(parts) : parts.front();
  return torch.SumColumns(all, 1);
}

Tensor WideDeep(Torch& torch, const Model& model, const Tensor& dense,
                LookupStyle style, const LookupOptions& options) {
  const Tensor wide = Wide(torch, model, style, options);
  const Tensor deep =
      Deep(torch, model, dense, LookUp(torch, model, style, options));
  return torch.Add(deep, wide);
}

// Half of (sum of the vectors)^2 - sum of their squares, and an MLP beside.
Tensor DeepFm(Torch& torch, const Model& model, const Tensor& dense,
              LookupStyle style, const LookupOptions& options) {
  const Tensor wide = Wide(torch, model, style, options);
  const std::vector<Tensor> vectors = LookUp(torch, model, style, options);
  const Tensor all = vectors.size() > 1 ? torch.Cat(vectors) : vectors.front();
  const int64_t dim = model.tables.front().dim;
  const Tensor sum = torch.SumColumns(all, dim);
  const Tensor square_of_sum = torch.Mul(sum, sum);
  const Tensor sum_of_squares = torch.SumColumns(torch.Mul(all, all), dim);
  const Tensor pairs =
      torch.SumColumns(torch.Add(square_of_sum, sum_of_squares), 1);
  const Tensor deep = Deep(torch, model, dense, {all});
  return torch.Add(torch.Add(deep, pairs), wide);
}

// Users and items twice: vectors to multiply, and vectors for the MLP, whose
// last layer reads both results.
Tensor Ncf(Torch& torch, const Model& model, LookupStyle style,
           const LookupOptions& options) {
  CHECK(style != LookupStyle::kBatched);
  LookupOptions single = options;
  single.kernel = ir::BagKernel::kPerTable;
  const std::vector<Tensor> vectors = LookUp(torch, model, style, single);
  CHECK(vectors.size() == 4);
  const Tensor product = torch.Mul(vectors[0], vectors[1]);
  std::vector<int64_t> hidden = model.top_mlp;
  const int64_t last = hidden.back();
  hidden.pop_back();
  const Tensor both = torch.Cat(std::vector<Tensor>{vectors[2], vectors[3]});
  const Tensor deep = torch.Mlp(both, hidden, /*last_relu=*/true);
  return torch.Linear(torch.Cat(std::vector<Tensor>{product, deep}), last);
}

}  // namespace

Tensor Recommend(Torch& torch, const Model& model, const Tensor& dense,
                 LookupStyle style, const LookupOptions& options) {
  switch (model.kind) {
    case ModelKind::kWideDeep:
      return WideDeep(torch, model, dense, style, options);
    case ModelKind::kDeepFm:
      return DeepFm(torch, model, dense, style, options);
    case ModelKind::kNcf:
      return Ncf(torch, model, style, options);
    default:
      return Dlrm(torch, model, dense, style, options);
  }
}

}  // namespace stepcast::workload
