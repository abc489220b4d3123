#include "ingest/host_only.h"

#include "ingest/classify/request.h"

namespace stepcast::ingest {
namespace {

Arguments ArgumentsOf(const ExecutionTrace& trace, uint32_t node) {
  return ParseArguments(trace.nodes[node].arguments, trace.strings);
}

}  // namespace

bool IsHostOnly(const ExecutionTrace& trace) {
  bool on_host = false;
  for (uint32_t i = 0; i < trace.nodes.size(); ++i) {
    const Arguments arguments = ArgumentsOf(trace, i);
    if (trace.nodes[i].kind == NodeKind::kDevice ||
        HasTensor(arguments.inputs, ir::Device::kGpu) ||
        HasTensor(arguments.outputs, ir::Device::kGpu)) {
      return false;
    }
    on_host = on_host || HasTensor(arguments.inputs, ir::Device::kCpu);
  }
  return on_host;
}

void KeepOutermost(const ExecutionTrace& trace, std::vector<bool>& launches) {
  // Parents come before their children.
  std::vector<bool> inside(trace.nodes.size());
  for (uint32_t i = 0; i < trace.nodes.size(); ++i) {
    const uint32_t parent = trace.nodes[i].parent;
    inside[i] = parent < i && (inside[parent] || launches[parent]);
    if (inside[i]) {
      launches[i] = false;
    }
  }
}

Arguments OnDevice(Arguments arguments) {
  for (std::vector<Argument>* list : {&arguments.inputs, &arguments.outputs}) {
    for (Argument& argument : *list) {
      for (ir::Tensor& tensor : argument.tensors) {
        tensor.device = ir::Device::kGpu;
      }
    }
  }
  return arguments;
}

std::optional<ir::Index> SparseUpdate(const ExecutionTrace& trace,
                                      uint32_t node) {
  const Arguments arguments = ArgumentsOf(trace, node);
  const ir::Tensor* table =
      arguments.inputs.empty() || arguments.inputs[0].tensors.empty()
          ? nullptr
          : arguments.inputs[0].tensors.data();
  if (table == nullptr || table->dims.size() != 2) {
    return std::nullopt;
  }
  for (uint32_t i = node + 1; i < trace.nodes.size(); ++i) {
    const ExecutionNode& child = trace.nodes[i];
    if (child.parent == node &&
        trace.strings.view(child.name) == "aten::_values") {
      const Arguments values = ArgumentsOf(trace, i);
      if (!values.outputs.empty() && !values.outputs[0].tensors.empty()) {
        const ir::Tensor& taken = values.outputs[0].tensors[0];
        return ir::Index{.elements = ElementCount(taken),
                         .source = ElementCount(*table),
                         .scatter = true,
                         .accumulate = true,
                         .slice = table->dims[1],
                         .dtype = table->dtype};
      }
    }
    if (child.parent < node || child.parent == ExecutionNode::kNoParent) {
      break;  // Behind the op.
    }
  }
  return std::nullopt;
}

}  // namespace stepcast::ingest
