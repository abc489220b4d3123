// torch.cuda.amp.GradScaler: what mixed precision adds to a training step so
// that small gradients do not vanish in FP16.
#ifndef STEPCAST_WORKLOAD_IMPL_GRAD_SCALER_H_
#define STEPCAST_WORKLOAD_IMPL_GRAD_SCALER_H_

#include <cstdint>

#include "workload/impl/torch.h"

namespace stepcast::workload {

/// Does nothing in steps without autocast and in inference.
class GradScaler {
 public:
  explicit GradScaler(Torch& torch)
      : torch_(torch),
        used_(torch.options().train && torch.options().types.cast) {}

  bool used() const { return used_; }

  /// Behind the loss: multiplies it.
  void ScaleLoss();
  /// Divides gradients of so many numbers, all in one op, and looks for what
  /// overflowed.
  void Unscale(int64_t elements);
  /// The host reads whether anything did: only then the step is taken.
  void ReadOverflow();
  /// Behind the update: the scale of the next step.
  void UpdateScale();

 private:
  Torch& torch_;
  bool used_ = false;
};

}  // namespace stepcast::workload

#endif  // STEPCAST_WORKLOAD_IMPL_GRAD_SCALER_H_
