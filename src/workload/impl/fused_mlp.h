// An MLP in one op, as Apex fuses it: a product a layer, bias and
// ReLU in one kernel behind it.
#ifndef STEPCAST_WORKLOAD_IMPL_FUSED_MLP_H_
#define STEPCAST_WORKLOAD_IMPL_FUSED_MLP_H_

#include <span>
#include <string_view>

#include "workload/impl/torch.h"

namespace stepcast::workload {

/// How the layers are fused.
struct FusedMlp {
  std::string_view op;    // Of the forward.
  std::string_view node;  // Of the backward.
};

Tensor RunFusedMlp(Torch& torch, const Tensor& x,
                   std::span<const int64_t> widths, const FusedMlp& fused);

}  // namespace stepcast::workload

#endif  // STEPCAST_WORKLOAD_IMPL_FUSED_MLP_H_
