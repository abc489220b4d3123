#include "ir/graph_builder.h"

#include <utility>

#include "ir/canonical.h"
#include "ir/verify_parts.h"

namespace stepcast::ir {

OpId GraphBuilder::AddOp(Op op, std::vector<Tensor> inputs,
                         std::vector<Tensor> outputs) {
  op.inputs = AddTensors(std::move(inputs));
  op.outputs = AddTensors(std::move(outputs));
  return data_.ops.push_back(op);
}

WorkId GraphBuilder::AddWork(Work work, const KernelShape& shape) {
  work.shape = shapes_.Insert(shape);
  work.collective = CollectiveId{};
  return data_.works.push_back(work);
}

Result<Graph> GraphBuilder::Build() && {
  data_.shapes = std::move(shapes_).Take();
  RETURN_IF_ERROR(VerifyIds(data_));
  RETURN_IF_ERROR(Canonicalize(data_));
  return Graph::Make(std::move(data_));
}

IdRange<TensorId> GraphBuilder::AddTensors(std::vector<Tensor> tensors) {
  const uint32_t first = data_.tensors.size();
  for (Tensor& tensor : tensors) {
    data_.tensors.push_back(std::move(tensor));
  }
  return {.first = first, .count = data_.tensors.size() - first};
}

}  // namespace stepcast::ir
