// Turns Chakra nodes, as protobuf or JSON has them, into the nodes of an
// execution trace.
#ifndef STEPCAST_TRACE_READ_CHAKRA_CHAKRA_NODES_H_
#define STEPCAST_TRACE_READ_CHAKRA_CHAKRA_NODES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/ids.h"
#include "base/result.h"
#include "ir/dtype.h"
#include "ir/graph.h"
#include "trace/read/chakra/chakra.pb.h"
#include "trace/read/execution_trace.h"
#include "trace/read/torch_et/collectives.h"
#include "trace/read/torch_et/node_order.h"
#include "trace/read/torch_et/parsed_node.h"

namespace stepcast::trace {

// Tensors as Chakra and PyTorch's execution traces write them.

/// PyTorch's name of an element type: "Float", "Long".
std::string_view TorchDType(ir::DType dtype);

/// Values, shapes and types as lists in Python's syntax:
///   [[5, 6, 0, 112, 4, 'cuda:0']]  [[112]]  ['Tensor(float)']
/// A tensor's value is its id, storage, offset, elements, bytes of an element
/// and device. Graphs do not keep offsets; they are written as 0.
void WriteTensors(const ir::GraphData& graph, IdRange<ir::TensorId> tensors,
                  chakra::InputsOutputs& out);

/// What both renderings say about a node.
struct ChakraNode {
  ParsedNode parsed{};  // Kind and parent are found by ChakraNodes.
  int64_t type = 0;     // NodeType of chakra.proto.
  std::optional<bool> is_cpu_op{};
  std::optional<DeviceEventKind> device_kind{};  // cat
  std::optional<int64_t> comm_type{};     // CollectiveType of chakra.proto.
  std::optional<int64_t> comm_bytes{};    // comm_size
  std::optional<int64_t> memory_bytes{};  // tensor_size
  bool has_nanoseconds = false;  // Times are exact: written by stepcast.
  CollectiveFields collective{};
  std::vector<int64_t> control_dependencies{};
  std::vector<int64_t> data_dependencies{};
};

/// Collects nodes in the order of the file, then makes up for what converters
/// do to them:
///
/// - An op that launches device work is cut around its launches into parts
///   "name(0)", "name(1)", ...; the parts get back the name. The converter that
///   does so also renumbers the nodes and leaves the control dependencies as
///   they were, so in such files ops have no parent, and device work belongs to
///   the first op among its data dependencies.
/// - Later converters keep the nesting, and write the time of an op without
///   that of the ops in it; it is added up again.
/// - A duration of 0 is not written; device work without one took 0 if other
///   device work has one.
class ChakraNodes {
 public:
  ChakraNodes(ExecutionTrace& trace, Diagnostics& diagnostics)
      : trace_(trace), diagnostics_(diagnostics) {}

  /// Fails only beyond 2^32 dependencies.
  Status Add(const ChakraNode& node);
  bool empty() const { return nodes_.empty(); }
  /// Fills the trace's nodes.
  void Finish();

 private:
  void ReadDevice(const ChakraNode& node, ExecutionNode& device,
                  CollectiveFields& collective) const;
  bool JoinParts();
  void FindParents(bool split);
  std::optional<int64_t> LaunchingOp(const ExecutionNode& device,
                                     const NodeIndex& index) const;
  void FillDeviceTimes();
  void AddUpHostTimes();

  ExecutionTrace& trace_;
  Diagnostics& diagnostics_;
  std::vector<ParsedNode> nodes_;
  Collectives collectives_;
  bool has_nanoseconds_ = false;
};

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_READ_CHAKRA_CHAKRA_NODES_H_
