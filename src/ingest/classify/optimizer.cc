// Fused and multi-tensor optimizer kernels.
#include <algorithm>
#include <string_view>

#include "ingest/classify/sizers.h"
#include "ir/names.h"

namespace stepcast::ingest {

ir::KernelShape SizeOptimizer(const SizeRequest& request) {
  ir::OptimizerStep step{.update = ir::FromName<ir::Update>(request.detail)
                                       .value_or(ir::Update::kOther)};
  const RuledOp* ruled = FindOp(request, "optimizer_step");
  if (ruled == nullptr) {
    return step;
  }
  // All lists of one call are equally long; the first has the parameters.
  for (const Argument& argument : ruled->op.arguments->inputs) {
    if (argument.kind == Argument::Kind::kTensorList) {
      step.tensors = static_cast<int64_t>(argument.tensors.size());
      for (const ir::Tensor& tensor : argument.tensors) {
        step.elements = Plus(step.elements, ElementCount(tensor));
        step.dtype =
            tensor.dtype != ir::DType::kUnknown ? tensor.dtype : step.dtype;
      }
      break;
    }
  }
  if (step.dtype == ir::DType::kUnknown) {
    // Profiler traces do not show the types inside a list.
    step.dtype = TypeBehind(request.facts.name, "Functor");
  }
  // Lists too long for one launch are split over several.
  const int64_t launches = std::max<int64_t>(request.facts.siblings, 1);
  step.tensors = (step.tensors + launches - 1) / launches;
  step.elements = step.elements / launches;
  return step;
}

}  // namespace stepcast::ingest
