#include "measurements/aten_call.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/value_text.h"

namespace stepcast::measurements {
namespace {

using ingest::Argument;

// The CSV files write lists with semicolons; text inside quotes is as it was.
std::optional<Value> ParseList(std::string_view text, std::string& buffer) {
  buffer.assign(text);
  std::ranges::replace(buffer, ';', ',');
  auto value = ParseValue(buffer);
  return value && value->is_list() ? std::move(value) : std::nullopt;
}

ir::Tensor OnGpu(Dims dims, ir::DType dtype) {
  return {.dims = std::move(dims), .dtype = dtype, .device = ir::Device::kGpu};
}

// The type of a further tensor: only the first one's is recorded.
ir::DType TypeOf(std::string_view op, ir::DType first, size_t position) {
  if (op == "where" && position > 0) {
    return ir::DType::kFp32;  // The first one is the condition.
  }
  if (op.starts_with("masked_fill") && position == 1) {
    return ir::DType::kBool;
  }
  return first;
}

Argument PlainArgument(const Value& concrete) {
  Argument argument;
  std::string buffer(concrete.text);
  const auto value = ParseValue(buffer);
  if (!value || buffer.empty()) {
    return argument;
  }
  if (value->is_list()) {
    if (auto ints = AsIntList(*value)) {
      argument.kind = Argument::Kind::kIntList;
      argument.ints = std::move(*ints);
    }
  } else if (value->is_int() || value->kind == Value::Kind::kBool) {
    argument.kind = Argument::Kind::kInt;
    argument.ints = {value->integer};
  } else if (value->kind == Value::Kind::kFloat) {
    argument.kind = Argument::Kind::kFloat;
    argument.number = value->number;
  }
  return argument;
}

Argument TensorListArgument(const Value& dims, ir::DType dtype) {
  Argument list{.kind = Argument::Kind::kTensorList};
  for (const Value& item : dims.items) {
    if (auto sizes = AsIntList(item)) {
      list.tensors.push_back(OnGpu(std::move(*sizes), dtype));
    }
  }
  return list;
}

}  // namespace

std::optional<AtenCall> ParseAtenCall(const AtenText& text) {
  const ir::DType dtype =
      ir::DTypeFromName(text.dtype).value_or(ir::DType::kUnknown);
  std::string dims_text;
  std::string strides_text;
  std::string concrete_text;
  const auto dims = ParseList(text.input_dims, dims_text);
  const auto strides = ParseList(text.input_strides, strides_text);
  const auto concrete = ParseList(text.concrete_inputs, concrete_text);
  if (!dims) {
    return std::nullopt;
  }
  AtenCall call;
  for (size_t i = 0; i < dims->items.size(); ++i) {
    const Value& item = dims->items[i];
    const ir::DType type = TypeOf(text.op, dtype, i);
    auto sizes = AsIntList(item);
    const bool is_value = concrete && i < concrete->items.size() &&
                          !concrete->items[i].text.empty();
    Dims steps;
    if (strides && i < strides->items.size()) {
      steps = AsIntList(strides->items[i]).value_or(Dims());
    }
    if (!sizes) {
      call.arguments.inputs.push_back(TensorListArgument(item, type));
    } else if (!sizes->empty() || (i == 0 && !is_value)) {
      Argument tensor{.kind = Argument::Kind::kTensor};
      tensor.tensors.push_back(OnGpu(std::move(*sizes), type));
      call.arguments.inputs.push_back(std::move(tensor));
    } else if (is_value) {
      call.arguments.inputs.push_back(PlainArgument(concrete->items[i]));
    } else {
      call.arguments.inputs.push_back({});
    }
    call.strides.push_back(std::move(steps));
  }
  if (text.op == "linalg_vector_norm" && call.arguments.inputs.size() > 1) {
    // (self, order, axes, ...): without the order it reads as a sum does.
    call.arguments.inputs.erase(call.arguments.inputs.begin() + 1);
    call.strides.erase(call.strides.begin() + 1);
  }
  return call;
}

std::optional<std::vector<Dims>> ParseDimsList(std::string_view text) {
  std::string buffer;
  const auto list = ParseList(text, buffer);
  if (!list) {
    return std::nullopt;
  }
  std::vector<Dims> all;
  for (const Value& item : list->items) {
    auto dims = AsIntList(item);
    if (!dims) {
      return std::nullopt;
    }
    all.push_back(std::move(*dims));
  }
  return all;
}

int64_t ElementsOf(const Dims& dims) {
  int64_t product = 1;
  for (const int64_t dim : dims) {
    if (__builtin_mul_overflow(product, dim, &product)) {
      return 0;
    }
  }
  return product;
}

const ir::Tensor* TensorAt(const AtenCall& call, size_t position) {
  const auto& inputs = call.arguments.inputs;
  return position < inputs.size() &&
                 inputs[position].kind == Argument::Kind::kTensor
             ? &inputs[position].tensors.front()
             : nullptr;
}

}  // namespace stepcast::measurements
