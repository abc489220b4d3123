#include "trace/read/arguments.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text/value_text.h"

namespace stepcast::trace {
namespace {

using Kind = Argument::Kind;

// A tensor in an execution trace: id, storage, offset, elements, bytes of an
// element, device.
constexpr size_t kTensorValues = 6;
constexpr size_t kStoragePosition = 1;
constexpr size_t kDevicePosition = 5;

// Types of profiler and execution traces that are not tensors. Any other word
// is a tensor's element type.
constexpr std::array<std::string_view, 20> kPlainTypes = {
    "",          "Scalar", "ScalarList", "Int",     "Bool",
    "Double",    "Float",  "String",     "None",    "Device",
    "Generator", "Object", "Stream",     "Storage", "Dict",
    "Complex",   "SymInt", "SymFloat",   "Layout",  "GenericList"};

ir::Device ParseDevice(std::string_view text) {
  constexpr std::array<std::string_view, 4> kGpus = {"cuda", "hip", "xpu",
                                                     "mtia"};
  if (text.starts_with("cpu")) {
    return ir::Device::kCpu;
  }
  const bool is_gpu = std::ranges::any_of(
      kGpus, [&](std::string_view name) { return text.starts_with(name); });
  return is_gpu ? ir::Device::kGpu : ir::Device::kUnknown;
}

// Real sizes are not; a tensor with one is not described at all.
bool HasNegative(const Value& dims) {
  return (dims.is_int() && dims.integer < 0) ||
         std::ranges::any_of(dims.items, HasNegative);
}

ir::Tensor MakeTensor(std::string_view type, const Value* dims,
                      const Value* value) {
  ir::Tensor tensor{.dtype = ir::DTypeFromTorch(type)};
  if (dims != nullptr) {
    tensor.dims = AsIntList(*dims).value_or(std::vector<int64_t>());
  }
  if (value != nullptr && value->items.size() == kTensorValues) {
    const Value& storage = value->items[kStoragePosition];
    const Value& device = value->items[kDevicePosition];
    tensor.storage = storage.is_int() ? storage.integer : -1;
    tensor.device = ParseDevice(device.text);
  }
  return tensor;
}

// "Tensor(float)", but not "Tensor(nullptr (uninitialized))".
bool IsTensorType(std::string_view type) {
  return type.starts_with("Tensor(") && type.ends_with(')') &&
         !type.starts_with("Tensor(nullptr");
}

const Value* ItemOf(const Value* list, size_t index) {
  return list != nullptr && index < list->items.size() ? &list->items[index]
                                                       : nullptr;
}

// The words of "GenericList[Tensor(float),Int]".
std::vector<std::string_view> ElementTypes(std::string_view type) {
  const size_t open = type.find('[');
  if (open == std::string_view::npos || !type.ends_with(']')) {
    return {};
  }
  const std::string_view inner = type.substr(open + 1, type.size() - open - 2);
  std::vector<std::string_view> words;
  size_t start = 0;
  int depth = 0;
  for (size_t at = 0; at < inner.size(); ++at) {
    depth += inner[at] == '(' || inner[at] == '[' ? 1 : 0;
    depth -= inner[at] == ')' || inner[at] == ']' ? 1 : 0;
    if (inner[at] == ',' && depth == 0) {
      words.push_back(inner.substr(start, at - start));
      start = at + 1;
    }
  }
  if (!inner.empty()) {
    words.push_back(inner.substr(start));
  }
  return words;
}

Argument MakeTensorList(const std::vector<std::string_view>& types,
                        const Value* dims, const Value* value) {
  Argument list{.kind = Kind::kTensorList};
  for (size_t i = 0; i < types.size(); ++i) {
    if (IsTensorType(types[i])) {
      list.tensors.push_back(
          MakeTensor(types[i], ItemOf(dims, i), ItemOf(value, i)));
    }
  }
  return list;
}

// The profiler's "TensorList": newer releases give the dims of every tensor,
// none gives the types.
Argument MakeUntypedTensorList(const Value* dims) {
  Argument list{.kind = Kind::kTensorList};
  if (dims != nullptr) {
    for (const Value& item : dims->items) {
      if (item.is_list()) {
        list.tensors.push_back(MakeTensor({}, &item, nullptr));
      }
    }
  }
  return list;
}

Argument MakeIntList(const Value& value) {
  Argument list{.kind = Kind::kIntList};
  for (const Value& item : value.items) {
    if (item.kind != Value::Kind::kInt && item.kind != Value::Kind::kBool) {
      return {};
    }
    list.ints.push_back(item.integer);
  }
  return list;
}

Argument MakePlain(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kBool:
    case Value::Kind::kInt:
      return {.kind = Kind::kInt, .ints = {value.integer}};
    case Value::Kind::kFloat:
      return {.kind = Kind::kFloat, .number = value.number};
    case Value::Kind::kList:
      return MakeIntList(value);
    case Value::Kind::kString:
      if (value.text.empty() || value.text == "<None>" ||
          value.text == "<Object>") {
        return {};
      }
      return {.kind = Kind::kString, .text = std::string(value.text)};
    case Value::Kind::kNone:
      return {};
  }
  return {};
}

// A value that the profiler wrote as text: "141", "[2, 2]", "False", "sum".
Argument ParsePlain(const Value& value) {
  if (value.is_string()) {
    if (const auto inner = ParseValue(value.text);
        inner && !inner->is_string()) {
      return MakePlain(*inner);
    }
  }
  return MakePlain(value);
}

Argument MakeArgument(std::string_view type, const Value* dims,
                      const Value* value) {
  if (dims != nullptr && HasNegative(*dims)) {
    return {};
  }
  if (IsTensorType(type)) {
    return {.kind = Kind::kTensor, .tensors = {MakeTensor(type, dims, value)}};
  }
  if (type == "TensorList") {
    return MakeUntypedTensorList(dims);
  }
  if (const auto types = ElementTypes(type);
      std::ranges::any_of(types, IsTensorType)) {
    return MakeTensorList(types, dims, value);
  }
  const bool is_plain =
      type.find('[') != std::string_view::npos || type.starts_with("Tensor(") ||
      std::ranges::find(kPlainTypes, type) != kPlainTypes.end();
  if (!is_plain) {
    return {.kind = Kind::kTensor, .tensors = {MakeTensor(type, dims, value)}};
  }
  if (value == nullptr || type.starts_with("Tensor(")) {
    return {};
  }
  // A list whose elements have no values (an empty one) is still a list.
  return ParsePlain(*value);
}

std::vector<Argument> ParseList(std::string_view dims_text,
                                std::string_view types_text,
                                std::string_view values_text) {
  const auto types = ParseValue(types_text);
  if (!types || !types->is_list()) {
    return {};
  }
  const auto dims = ParseValue(dims_text);
  const auto values = ParseValue(values_text);
  std::vector<Argument> arguments;
  arguments.reserve(types->items.size());
  for (size_t i = 0; i < types->items.size(); ++i) {
    arguments.push_back(MakeArgument(types->items[i].text,
                                     ItemOf(dims ? &*dims : nullptr, i),
                                     ItemOf(values ? &*values : nullptr, i)));
  }
  return arguments;
}

}  // namespace

Arguments ParseArguments(const RawArguments& raw, const StringPool& strings) {
  return {.inputs = ParseList(strings.view(raw.dims), strings.view(raw.types),
                              strings.view(raw.values)),
          .outputs =
              ParseList(strings.view(raw.out_dims), strings.view(raw.out_types),
                        strings.view(raw.out_values)),
          .collective = std::string(strings.view(raw.collective))};
}

bool HasTensor(const std::vector<Argument>& arguments, ir::Device device) {
  return std::ranges::any_of(arguments, [&](const Argument& argument) {
    return std::ranges::any_of(argument.tensors, [&](const ir::Tensor& tensor) {
      return tensor.device == device;
    });
  });
}

std::vector<ir::Tensor> CopyTensors(const std::vector<Argument>& arguments) {
  std::vector<ir::Tensor> tensors;
  for (const Argument& argument : arguments) {
    std::ranges::copy(argument.tensors, std::back_inserter(tensors));
  }
  return tensors;
}

}  // namespace stepcast::trace
