// Layers of eager PyTorch, forward and backward.
#include <string_view>
#include <utility>

#include "model/frameworks/torch/torch.h"

namespace stepcast::model {

// Losses of eager PyTorch that are many small kernels.

// The terms of max(-x, 0), log(exp(-m) + exp(-x - m)) and (1 - y) x, one kernel
// each, as the trace of a 2023 TorchRec DLRM has them.
void Torch::LossWithLogits(const Tensor& x) {
  const int64_t n = x.elements();
  const ir::DType dtype = ir::DType::kFp32;
  {
    const OpScope op(step_, "aten::binary_cross_entropy_with_logits");
    CastInside(n, x.dtype, dtype);
    const auto plain = [&](int64_t inputs) {
      step_.Launch(Stream(n, inputs, dtype));
    };
    const auto function = [&] {
      step_.Launch(Stream(n, 1, dtype, ir::Arithmetic::kTranscendental));
    };
    plain(1);                       // -x
    plain(1);                       // m = max(-x, 0)
    step_.Launch(Zeros(n, dtype));  // 1
    plain(2);                       // 1 - y
    plain(2);                       // (1 - y) x
    plain(2);                       // + m
    plain(1);                       // -m
    function();                     // exp
    plain(1);                       // -x
    plain(2);                       // - m
    function();                     // exp
    plain(2);                       // their sum
    function();                     // log
    plain(2);                       // the loss of each sample
    step_.Launch(Sum(n, dtype));
  }
  OnBackward([this, n] {
    const NodeScope node(*this, "BinaryCrossEntropyWithLogitsBackward0");
    step_.Launch(Stream(n, 1, dtype, ir::Arithmetic::kTranscendental));
    step_.Launch(Stream(n, 2, dtype));
    step_.Launch(Stream(n, 1, dtype));
    step_.Launch(Stream(n, 1, dtype, ir::Arithmetic::kDivision));
  });
}

Tensor Torch::Linear(const Tensor& x, int64_t out, bool bias) {
  const Types& types = options_.types;
  {
    const OpScope op(step_, "aten::linear");
    CastInside(x.elements(), x.dtype, types.activation);
    if (types.cast) {
      step_.Launch(Cast(x.columns * out, types.parameter, types.product));
    }
    if (types.cast && bias) {
      step_.Launch(Cast(out, types.parameter, types.product));
    }
    // The product adds to the bias. Since cublasLt it adds the bias itself,
    // but not where the result is a vector.
    if (bias && (!since_2023() || out == 1)) {
      step_.Launch(Broadcast(x.rows, out, types.activation));
    }
    Product(Forward(x.rows, x.columns, out, types.product));
  }
  AddParameter(x.columns * out);
  if (bias) {
    AddParameter(out);
  }
  OnBackward([this, x, out, bias] { LinearBackward(x, out, bias); });
  return {.rows = x.rows,
          .columns = out,
          .dtype = types.activation,
          .grad = options_.train};
}

void Torch::LinearBackward(const Tensor& x, int64_t out, bool bias) {
  const Types& types = options_.types;
  {
    const NodeScope node(*this, bias ? "AddmmBackward0" : "MmBackward0");
    if (x.grad) {
      Product(DataGradient(x.rows, x.columns, out, types.product));
    }
    Product(WeightGradient(x.rows, x.columns, out, types.product));
    if (bias && before_2022()) {
      step_.End();
      step_.Begin("aten::sum");
    }
    if (bias) {
      SumRows(x.rows, out, types.activation);
    }
  }
  if (bias && before_2022()) {
    step_.Op("aten::view");
  }
  if (bias) {
    UncastGradient(out);
    AccumulateGrad(out);
  }
  Node("TBackward0");
  UncastGradient(x.columns * out);
  AccumulateGrad(x.columns * out);
  UncastPart(x, types.activation);
}

Tensor Torch::Unary(const Tensor& x, std::string_view op, std::string_view node,
                    ir::Arithmetic arithmetic) {
  {
    const OpScope scope(step_, op);
    step_.Launch(Stream(x.elements(), 1, x.dtype, arithmetic));
  }
  if (x.grad) {
    OnBackward(
        [this, x, node] { Node(node, Stream(x.elements(), 2, x.dtype)); });
  }
  return x;
}

Tensor Torch::Relu(const Tensor& x) {
  return Unary(x, "aten::relu", "ReluBackward0", ir::Arithmetic::kPlain);
}

Tensor Torch::Sigmoid(const Tensor& x) {
  return Unary(x, "aten::sigmoid", "SigmoidBackward0",
               ir::Arithmetic::kTranscendental);
}

Tensor Torch::Dropout(const Tensor& x) {
  if (!options_.train) {
    step_.Op("aten::dropout");
    return x;
  }
  const int64_t bytes = x.bytes();
  {
    // The values and a mask of a byte each.
    const OpScope op(step_, "aten::dropout");
    step_.Launch(
        ir::Elementwise{.elements = x.elements(),
                        .read = {bytes},
                        .written = {bytes + x.elements()},
                        .dtype = x.dtype,
                        .arithmetic = ir::Arithmetic::kTranscendental});
  }
  OnBackward([this, x, bytes] {
    Node("NativeDropoutBackward0",
         ir::Elementwise{.elements = x.elements(),
                         .read = {bytes + x.elements()},
                         .written = {bytes},
                         .dtype = x.dtype});
  });
  return x;
}

Tensor Torch::Join(std::span<const Tensor> parts) {
  Tensor all{
      .rows = parts.front().rows, .columns = 0, .dtype = parts.front().dtype};
  for (const Tensor& part : parts) {
    all.columns += part.columns;
    all.grad = all.grad || part.grad;
    if (ir::SizeOf(part.dtype) > ir::SizeOf(all.dtype)) {
      all.dtype = part.dtype;
    }
  }
  const OpScope op(step_, "aten::cat");
  for (const Tensor& part : parts) {
    CastInside(part.elements(), part.dtype, all.dtype);
  }
  step_.Launch(ir::Concat{.tensors = std::ssize(parts),
                          .elements = all.elements(),
                          .dtype = all.dtype});
  return all;
}

Tensor Torch::Cat(std::span<const Tensor> parts) {
  const Tensor all = Join(parts);
  if (all.grad) {
    OnBackward([this, all, copies = std::vector(parts.begin(), parts.end())] {
      Node("CatBackward0");
      for (const Tensor& part : copies) {
        UncastPart(part, all.dtype);
      }
    });
  }
  return all;
}

Tensor Torch::Add(const Tensor& a, const Tensor& b) {
  const OpScope op(step_, "aten::add");
  step_.Launch(Stream(a.elements(), 2, a.dtype));
  const bool grad = a.grad || b.grad;
  if (grad) {
    OnBackward([this] { Node("AddBackward0"); });
  }
  return {.rows = a.rows, .columns = a.columns, .dtype = a.dtype, .grad = grad};
}

Tensor Torch::Mul(const Tensor& a, const Tensor& b) {
  const OpScope op(step_, "aten::mul");
  step_.Launch(Stream(a.elements(), 2, a.dtype));
  const bool grad = a.grad || b.grad;
  OnBackward([this, a, b] {
    const NodeScope node(*this, "MulBackward0");
    for (const Tensor* const side : {&a, &b}) {
      if (side->grad) {
        step_.Launch(Stream(side->elements(), 2, side->dtype));
      }
    }
  });
  return {.rows = a.rows, .columns = a.columns, .dtype = a.dtype, .grad = grad};
}

Tensor Torch::SumColumns(const Tensor& x, int64_t groups) {
  {
    const OpScope op(step_, "aten::sum");
    step_.Launch(ir::Reduction{.inputs = x.elements(),
                               .outputs = x.rows * groups,
                               .dtype = x.dtype,
                               .strided = groups > 1});
  }
  if (x.grad) {
    OnBackward([this] { Node("SumBackward1"); });
  }
  return {.rows = x.rows, .columns = groups, .dtype = x.dtype, .grad = x.grad};
}

Tensor Torch::Mlp(Tensor x, std::span<const int64_t> widths, bool last_relu,
                  double dropout) {
  for (size_t i = 0; i < widths.size(); ++i) {
    x = Linear(x, widths[i]);
    const bool last = i + 1 == widths.size();
    if (!last || last_relu) {
      x = Relu(x);
    }
    if (!last && dropout > 0) {
      x = Dropout(x);
    }
  }
  return x;
}

void Torch::Loss(const Tensor& x, model::Loss loss) {
  const int64_t n = x.elements();
  const bool mse = loss == model::Loss::kMse;
  const ir::DType dtype = ir::DType::kFp32;  // Losses are worked out in it.
  if (mse) {
    step_.Op("aten::broadcast_tensors");
  }
  {
    const OpScope op(step_,
                     mse ? "aten::mse_loss" : "aten::binary_cross_entropy");
    CastInside(n, x.dtype, dtype);
    step_.Launch(
        Stream(n, 2, dtype,
               mse ? ir::Arithmetic::kPlain : ir::Arithmetic::kTranscendental));
    step_.Launch(Sum(n, dtype));
    if (!mse) {
      step_.CopyOnDevice(ir::SizeOf(dtype));  // The mean into the result.
    }
  }
  OnBackward([this, n, mse] {
    const NodeScope node(
        *this, mse ? "MseLossBackward0" : "BinaryCrossEntropyBackward0");
    if (mse) {
      step_.Launch(Zeros(n, dtype));
    }
    // Of prediction, target and the loss's gradient.
    step_.Launch(Stream(n, 2, dtype, ir::Arithmetic::kDivision));
    if (!mse) {
      step_.Launch(Stream(n, 1, dtype, ir::Arithmetic::kDivision));
    }
  });
}

void Torch::CrossEntropy(const Tensor& x) {
  const ir::DType dtype = ir::DType::kFp32;
  const ir::Softmax softmax{
      .rows = x.rows, .columns = x.columns, .dtype = dtype};
  {
    const OpScope op(step_, "aten::cross_entropy_loss");
    CastInside(x.elements(), x.dtype, dtype);
    step_.Launch(softmax);
    step_.Launch(Sum(x.rows, dtype));
  }
  OnBackward([this, x, softmax] {
    {
      const NodeScope node(*this, "NllLossBackward0");
      step_.Launch(Zeros(x.elements(), dtype));
      step_.Launch(ir::Index{.elements = x.rows,
                             .source = x.elements(),
                             .scatter = true,
                             .slice = 1,
                             .dtype = dtype});
    }
    ir::Softmax backward = softmax;
    backward.pass = ir::Pass::kBackward;
    Node("LogSoftmaxBackward0", backward);
  });
}

}  // namespace stepcast::model
