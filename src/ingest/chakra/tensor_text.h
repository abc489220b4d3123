// Tensors as Chakra and PyTorch's execution traces write them.
#ifndef STEPCAST_INGEST_CHAKRA_TENSOR_TEXT_H_
#define STEPCAST_INGEST_CHAKRA_TENSOR_TEXT_H_

#include <string_view>

#include "base/ids.h"
#include "ingest/chakra/chakra.pb.h"
#include "ir/dtype.h"
#include "ir/graph.h"

namespace stepcast::ingest {

/// PyTorch's name of an element type: "Float", "Long".
std::string_view TorchDType(ir::DType dtype);

/// Values, shapes and types as lists in Python's syntax:
///   [[5, 6, 0, 112, 4, 'cuda:0']]  [[112]]  ['Tensor(float)']
/// A tensor's value is its id, storage, offset, elements, bytes of an element
/// and device. Graphs do not keep offsets; they are written as 0.
void WriteTensors(const ir::GraphData& graph, IdRange<ir::TensorId> tensors,
                  chakra::InputsOutputs& out);

}  // namespace stepcast::ingest

#endif  // STEPCAST_INGEST_CHAKRA_TENSOR_TEXT_H_
