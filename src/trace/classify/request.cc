#include "trace/classify/request.h"

#include <algorithm>

namespace stepcast::trace {

bool HasWord(std::string_view detail, std::string_view word) {
  while (!detail.empty()) {
    const size_t space = detail.find(' ');
    if (detail.substr(0, space) == word) {
      return true;
    }
    detail.remove_prefix(space == std::string_view::npos ? detail.size()
                                                         : space + 1);
  }
  return false;
}

ir::Pass PassOf(std::string_view detail) {
  return HasWord(detail, "backward") ? ir::Pass::kBackward : ir::Pass::kForward;
}

const RuledOp* FindOp(const SizeRequest& request, std::string_view family) {
  const RuledOp* found = nullptr;
  for (const RuledOp& ruled : request.ops) {
    if (!ruled.IsFamily(family)) {
      continue;
    }
    if (!ruled.op.arguments->empty()) {
      return &ruled;
    }
    found = found == nullptr ? &ruled : found;
  }
  return found;
}

const RuledOp* FindWorkingOp(const SizeRequest& request) {
  for (const RuledOp& ruled : request.ops) {
    if (ruled.rule != nullptr) {
      if (ruled.rule->family != kNoFamily) {
        return &ruled;
      }
      continue;
    }
    // An op nobody described. Names without a namespace are Python functions
    // and annotations around ops.
    const bool is_op = ruled.op.name.find("::") != std::string_view::npos &&
                       !ruled.op.name.starts_with("torch::autograd::");
    return is_op ? &ruled : nullptr;
  }
  return nullptr;
}

std::string_view PlainName(std::string_view op) {
  if (const size_t colons = op.rfind("::"); colons != std::string_view::npos) {
    op.remove_prefix(colons + 2);
  }
  if (op.ends_with('_') && !op.ends_with("__")) {
    op.remove_suffix(1);
  }
  return op;
}

int64_t Times(int64_t a, int64_t b) {
  int64_t product = 0;
  if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product)) {
    return 0;
  }
  return product;
}

int64_t Plus(int64_t a, int64_t b) {
  int64_t sum = 0;
  return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? 0 : sum;
}

int64_t Product(std::span<const int64_t> numbers) {
  int64_t product = 1;
  for (const int64_t number : numbers) {
    product = Times(product, number);
  }
  return product;
}

int64_t ElementCount(const ir::Tensor& tensor) {
  return Product(tensor.dims);
}

Bytes BytesOf(const ir::Tensor& tensor) {
  return {Times(ElementCount(tensor), ir::SizeOf(tensor.dtype))};
}

const ir::Tensor* TensorAt(const Arguments& arguments, size_t index) {
  if (index >= arguments.inputs.size() ||
      arguments.inputs[index].kind != Argument::Kind::kTensor) {
    return nullptr;
  }
  return &arguments.inputs[index].tensors.front();
}

const ir::Tensor* FirstTensor(std::span<const Argument> arguments) {
  for (const Argument& argument : arguments) {
    if (argument.kind == Argument::Kind::kTensor) {
      return &argument.tensors.front();
    }
  }
  return nullptr;
}

std::vector<const ir::Tensor*> TensorsOf(std::span<const Argument> arguments) {
  std::vector<const ir::Tensor*> tensors;
  for (const Argument& argument : arguments) {
    if (argument.kind == Argument::Kind::kTensor) {
      tensors.push_back(&argument.tensors.front());
    }
  }
  return tensors;
}

std::optional<int64_t> IntAt(const Arguments& arguments, size_t index) {
  if (index >= arguments.inputs.size() ||
      arguments.inputs[index].kind != Argument::Kind::kInt) {
    return std::nullopt;
  }
  return arguments.inputs[index].ints.front();
}

std::optional<std::vector<int64_t>> IntsAt(const Arguments& arguments,
                                           size_t index) {
  if (index >= arguments.inputs.size()) {
    return std::nullopt;
  }
  const Argument& argument = arguments.inputs[index];
  if (argument.kind != Argument::Kind::kInt &&
      argument.kind != Argument::Kind::kIntList) {
    return std::nullopt;
  }
  return argument.ints;
}

ir::DType TypeAfter(std::string_view kernel, std::string_view word) {
  const size_t at = kernel.find(word);
  const size_t open = kernel.find('<', at);
  if (at == std::string_view::npos || open == std::string_view::npos) {
    return ir::DType::kUnknown;
  }
  const std::string_view rest = kernel.substr(open + 1);
  return ir::DTypeFromTorch(rest.substr(0, rest.find_first_of(",>")));
}

std::optional<std::vector<int64_t>> Broadcast(
    std::span<const ir::Tensor* const> tensors) {
  std::vector<int64_t> shape;  // Last dimension first.
  for (const ir::Tensor* tensor : tensors) {
    const size_t count = tensor->dims.size();
    shape.resize(std::max(shape.size(), count), 1);
    for (size_t i = 0; i < count; ++i) {
      const int64_t size = tensor->dims[count - 1 - i];
      if (shape[i] != size && shape[i] != 1 && size != 1) {
        return std::nullopt;
      }
      shape[i] = shape[i] == 1 ? size : shape[i];
    }
  }
  std::ranges::reverse(shape);
  return shape;
}

}  // namespace stepcast::trace
