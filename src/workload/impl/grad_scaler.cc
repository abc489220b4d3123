#include "workload/impl/grad_scaler.h"

namespace stepcast::workload {

void GradScaler::ScaleLoss() {
  if (!used_) {
    return;
  }
  {
    const OpScope op(torch_.step(), "aten::mul");
    torch_.step().Launch(Stream(1, 1, ir::DType::kFp32));
  }
  torch_.OnBackward(
      [this] { torch_.Node("MulBackward0", Stream(1, 1, ir::DType::kFp32)); });
}

void GradScaler::Unscale(int64_t elements) {
  if (!used_ || elements == 0) {
    return;
  }
  const OpScope op(torch_.step(),
                   "aten::_amp_foreach_non_finite_check_and_unscale_");
  torch_.step().Launch(Stream(elements, 1, torch_.options().types.parameter));
}

void GradScaler::ReadOverflow() {
  if (!used_) {
    return;
  }
  const OpScope op(torch_.step(), "aten::item");
  torch_.step().CopyToHost(ir::SizeOf(ir::DType::kFp32));
}

void GradScaler::UpdateScale() {
  if (!used_) {
    return;
  }
  const OpScope op(torch_.step(), "aten::_amp_update_scale_");
  torch_.step().Launch(Stream(1, 2, ir::DType::kFp32));
}

}  // namespace stepcast::workload
