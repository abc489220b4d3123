// Transformers in eager PyTorch, as Hugging Face's BERT and GPT-2 build them:
// attention of separate products, softmax and dropout.
#include <vector>

#include "model/networks/networks.h"

namespace stepcast::model {
namespace {

class Blocks {
 public:
  Blocks(Torch& torch, const Model& model, int64_t batch)
      : torch_(torch), net_(model.transformer), batch_(batch) {}

  Tensor Run() {
    Tensor x = Embed();
    if (!net_.pre_norm) {
      x = LayerNorm(x);
    }
    for (int64_t i = 0; i < net_.layers; ++i) {
      x = net_.pre_norm ? PreNormBlock(x) : PostNormBlock(x);
    }
    if (net_.pre_norm) {
      x = LayerNorm(x);
    }
    if (net_.classes == 0) {
      return torch_.Linear(x, net_.vocabulary);
    }
    x.rows = batch_;  // The first token stands for the text.
    return torch_.Linear(x, net_.classes);
  }

 private:
  Tensor Table(int64_t rows, int64_t count) {
    const TableGroup table{.rows = rows, .dim = net_.hidden};
    const Types& types = torch_.options().types;
    ir::EmbeddingBag bag =
        Lookup({&table, 1}, {.batch = count,
                             .dtype = types.parameter,
                             .kernel = ir::BagKernel::kPerTable});
    bag.pooled = false;
    {
      const OpScope op(torch_.step(), "aten::embedding");
      torch_.step().Launch(bag);
    }
    torch_.AddParameter(rows * net_.hidden);
    Torch& torch = torch_;
    torch_.OnBackward([&torch, bag, rows] {
      {
        const NodeScope node(torch, "EmbeddingBackward0");
        torch.step().Launch(Zeros(rows * bag.dim, bag.dtype));
        torch.step().Launch(
            ir::Sort{.elements = bag.lookups, .dtype = ir::DType::kInt64});
        ir::EmbeddingBag backward = bag;
        backward.pass = ir::Pass::kBackward;
        backward.kernel = ir::BagKernel::kAtomic;
        torch.step().Launch(backward);
      }
      torch.AccumulateGrad(rows * bag.dim);
    });
    return {.rows = count,
            .columns = net_.hidden,
            .dtype = types.parameter,
            .grad = torch_.options().train};
  }

  Tensor Embed() {
    const int64_t tokens = batch_ * net_.sequence;
    const Tensor words = Table(net_.vocabulary, tokens);
    const Tensor places = Table(net_.sequence, tokens);
    return torch_.Dropout(torch_.Add(words, places));
  }

  Tensor LayerNorm(const Tensor& x) {
    const ir::Normalization shape{.kind = ir::NormKind::kLayer,
                                  .rows = x.rows,
                                  .columns = x.columns,
                                  .dtype = x.dtype};
    {
      const OpScope op(torch_.step(), "aten::layer_norm");
      torch_.step().Launch(shape);
    }
    torch_.AddParameter(x.columns);
    torch_.AddParameter(x.columns);
    Torch& torch = torch_;
    torch_.OnBackward([&torch, shape] {
      {
        const NodeScope node(torch, "NativeLayerNormBackward0");
        ir::Normalization backward = shape;
        backward.pass = ir::Pass::kBackward;
        torch.step().Launch(backward);
        // Gradients of scale and shift.
        torch.step().Launch(ColumnSum(shape.rows, shape.columns, shape.dtype));
      }
      torch.AccumulateGrad(shape.columns);
      torch.AccumulateGrad(shape.columns);
    });
    return x;
  }

  // c[m, n] = a[m, k] b[k, n] for every head of every text.
  Tensor HeadProduct(int64_t m, int64_t n, int64_t k) {
    const Types& types = torch_.options().types;
    const ir::Gemm gemm{.batch = batch_ * net_.heads,
                        .m = m,
                        .n = n,
                        .k = k,
                        .dtype = types.product};
    {
      const OpScope op(torch_.step(), "aten::matmul");
      torch_.step().Launch(gemm);
    }
    Torch& torch = torch_;
    torch_.OnBackward([&torch, gemm] {
      const NodeScope node(torch, "BmmBackward0");
      ir::Gemm left = gemm;
      left.n = gemm.k;
      left.k = gemm.n;
      left.transpose_b = true;
      torch.step().Launch(left);
      ir::Gemm right = gemm;
      right.m = gemm.k;
      right.k = gemm.m;
      right.transpose_a = true;
      torch.step().Launch(right);
    });
    return {.rows = gemm.batch * m,
            .columns = n,
            .dtype = types.activation,
            .grad = torch_.options().train};
  }

  Tensor Scale(const Tensor& x) {
    {
      const OpScope op(torch_.step(), "aten::div");
      torch_.step().Launch(
          Stream(x.elements(), 1, x.dtype, ir::Arithmetic::kDivision));
    }
    Torch& torch = torch_;
    torch_.OnBackward([&torch, x] {
      torch.Node("DivBackward0",
                 Stream(x.elements(), 1, x.dtype, ir::Arithmetic::kDivision));
    });
    return x;
  }

  Tensor Softmax(const Tensor& x) {
    const ir::Softmax shape{
        .rows = x.rows, .columns = x.columns, .dtype = x.dtype};
    {
      const OpScope op(torch_.step(), "aten::softmax");
      torch_.step().Launch(shape);
    }
    Torch& torch = torch_;
    torch_.OnBackward([&torch, shape] {
      ir::Softmax backward = shape;
      backward.pass = ir::Pass::kBackward;
      torch.Node("SoftmaxBackward0", backward);
    });
    return x;
  }

  Tensor Gelu(const Tensor& x) {
    {
      const OpScope op(torch_.step(), "aten::gelu");
      torch_.step().Launch(
          Stream(x.elements(), 1, x.dtype, ir::Arithmetic::kTranscendental));
    }
    Torch& torch = torch_;
    torch_.OnBackward([&torch, x] {
      torch.Node("GeluBackward0", Stream(x.elements(), 2, x.dtype,
                                         ir::Arithmetic::kTranscendental));
    });
    return x;
  }

  Tensor Attend(const Tensor& x) {
    const int64_t head = net_.hidden / net_.heads;
    const int64_t s = net_.sequence;
    if (net_.pre_norm) {
      torch_.Linear(x, 3 * net_.hidden);
    } else {
      for (int i = 0; i < 3; ++i) {
        torch_.Linear(x, net_.hidden);
      }
    }
    const Tensor scores = Scale(HeadProduct(s, s, head));
    torch_.Dropout(Softmax(scores));
    HeadProduct(s, head, s);
    Torch& torch = torch_;
    {
      // Heads side by side again.
      const OpScope op(torch_.step(), "aten::contiguous");
      torch_.step().Launch(ir::Transpose{
          .elements = x.elements(), .run = head, .dtype = x.dtype});
    }
    torch_.OnBackward([&torch] { torch.Node("CloneBackward0"); });
    return torch_.Dropout(torch_.Linear(x, net_.hidden));
  }

  Tensor FeedForward(const Tensor& x) {
    const Tensor wide = Gelu(torch_.Linear(x, net_.feed_forward));
    return torch_.Dropout(torch_.Linear(wide, net_.hidden));
  }

  Tensor PostNormBlock(const Tensor& x) {
    const Tensor middle = LayerNorm(torch_.Add(Attend(x), x));
    return LayerNorm(torch_.Add(FeedForward(middle), middle));
  }

  Tensor PreNormBlock(const Tensor& x) {
    const Tensor middle = torch_.Add(Attend(LayerNorm(x)), x);
    return torch_.Add(FeedForward(LayerNorm(middle)), middle);
  }

  Torch& torch_;
  const Transformer& net_;
  int64_t batch_ = 0;
};

}  // namespace

Tensor RunTransformer(Torch& torch, const Model& model, int64_t batch) {
  return Blocks(torch, model, batch).Run();
}

}  // namespace stepcast::model
