// Losses of eager PyTorch that are many small kernels.
#include "workload/impl/torch.h"

namespace stepcast::workload {

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

}  // namespace stepcast::workload
