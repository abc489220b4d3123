#include "learn/measured/aten_shape.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/value_text.h"
#include "ir/dtype.h"
#include "trace/classify/classify.h"
#include "trace/read/arguments.h"

namespace stepcast::learn {
namespace {

// The arguments of a measured PyTorch operator, as the CSV files write them.

using Dims = std::vector<int64_t>;

// An operator as the classifier reads it, with what it does not: strides.
struct AtenCall {
  trace::Arguments arguments{};
  std::vector<Dims> strides{};  // Of every argument; empty for plain values.
};

// The text of an operator's arguments: lists as Python writes them, with
// semicolons for commas.
struct AtenText {
  std::string_view op{};               // "copy_", without "aten::".
  std::string_view dtype{};            // Of the first tensor: "bf16".
  std::string_view input_dims{};       // [[512;768];[768;64];[]]
  std::string_view input_strides{};    // ((768;1);(1;768);())
  std::string_view concrete_inputs{};  // ('';'';'1')
};

using trace::Argument;

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

// The tensors' sizes of a list of them: [[4;1;768];[4;196;768]].
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

// Elements of a tensor; 0 if they cannot be counted.
int64_t ElementsOf(const Dims& dims) {
  int64_t product = 1;
  for (const int64_t dim : dims) {
    if (__builtin_mul_overflow(product, dim, &product)) {
      return 0;
    }
  }
  return product;
}

// The tensor at a position, or null.
const ir::Tensor* TensorAt(const AtenCall& call, size_t position) {
  const auto& inputs = call.arguments.inputs;
  return position < inputs.size() &&
                 inputs[position].kind == Argument::Kind::kTensor
             ? &inputs[position].tensors.front()
             : nullptr;
}

using trace::Argument;

// Whether two layouts of the same sizes step alike; axes of one element have no
// say.
bool SameLayout(const Dims& dims, const Dims& a, const Dims& b) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != 1 && a[i] != b[i]) {
      return false;
    }
  }
  return true;
}

// Elements that are adjacent in both layouts.
int64_t CommonRun(const Dims& dims, const Dims& a, const Dims& b) {
  int64_t run = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i] == 1) {
      continue;
    }
    if (a[i] != run || b[i] != run) {
      break;
    }
    run *= dims[i];
  }
  return run;
}

struct MemcpyName {
  std::string_view name;
  ir::CopyKind kind = ir::CopyKind::kUnknown;
};
constexpr std::array<MemcpyName, 3> kMemcpies = {{
    {"Memcpy DtoD", ir::CopyKind::kDeviceToDevice},
    {"Memcpy HtoD", ir::CopyKind::kHostToDevice},
    {"Memcpy DtoH", ir::CopyKind::kDeviceToHost},
}};

ir::CopyKind CopyKindOf(std::string_view kernels) {
  const auto* const found =
      std::ranges::find(kMemcpies, kernels, &MemcpyName::name);
  return found == kMemcpies.end() ? ir::CopyKind::kUnknown : found->kind;
}

// The type on the other side of a cast, which is not recorded: mixed-precision
// models go between 16 and 32 bits, ids between 32 and 64.
int64_t CastSourceBytes(ir::DType to) {
  switch (ir::SizeOf(to)) {
    case 2:
    case 8:
      return 4;
    case 4:
      return 2;
    default:
      return ir::SizeOf(to);
  }
}

// copy_(destination, source).
ir::KernelShape CopyShape(const AtenCall& call, std::string_view kernels) {
  const ir::Tensor* to = TensorAt(call, 0);
  const ir::Tensor* from = TensorAt(call, 1);
  if (to == nullptr) {
    return ir::Opaque{};
  }
  const int64_t elements = ElementsOf(to->dims);
  const int64_t bytes = elements * ir::SizeOf(to->dtype);
  if (const auto kind = CopyKindOf(kernels); kind != ir::CopyKind::kUnknown) {
    return ir::Copy{.kind = kind, .bytes = {bytes}};
  }
  const bool known = from != nullptr && from->dims == to->dims &&
                     call.strides[0].size() == to->dims.size() &&
                     call.strides[1].size() == to->dims.size();
  if (known && !SameLayout(to->dims, call.strides[0], call.strides[1])) {
    return ir::Transpose{
        .elements = elements,
        .run = CommonRun(to->dims, call.strides[0], call.strides[1]),
        .dtype = to->dtype};
  }
  // A copy that keeps the layout and is no memcpy changes the type.
  const int64_t source = from == nullptr ? elements : ElementsOf(from->dims);
  return ir::Elementwise{.elements = elements,
                         .read = {source * CastSourceBytes(to->dtype)},
                         .written = {bytes},
                         .dtype = to->dtype};
}

// sparse_add_(table, ids, values): SGD's step with a sparse gradient.
ir::KernelShape SparseAddShape(const AtenCall& call) {
  const ir::Tensor* table = TensorAt(call, 0);
  const ir::Tensor* values = TensorAt(call, 2);
  if (table == nullptr || values == nullptr || table->dims.size() != 2) {
    return ir::Opaque{};
  }
  return ir::Index{.elements = ElementsOf(values->dims),
                   .source = ElementsOf(table->dims),
                   .scatter = true,
                   .accumulate = true,
                   .slice = table->dims[1],
                   .dtype = table->dtype};
}

// Profilers do not show the list of indices.
bool HasIndices(const AtenCall& call) {
  return call.arguments.inputs.size() > 1 &&
         call.arguments.inputs[1].kind == Argument::Kind::kTensorList;
}

// index(self, indices): an empty entry leaves its axis whole.
ir::KernelShape IndexShape(const AtenCall& call) {
  const ir::Tensor* self = TensorAt(call, 0);
  if (self == nullptr) {
    return ir::Opaque{};
  }
  int64_t picked = 1;
  Dims whole = self->dims;
  const std::vector<ir::Tensor>& indices = call.arguments.inputs[1].tensors;
  for (size_t i = 0; i < std::min(indices.size(), whole.size()); ++i) {
    if (!indices[i].dims.empty()) {
      picked = std::max(picked, ElementsOf(indices[i].dims));
      whole[i] = 1;
    }
  }
  whole.push_back(picked);
  return ir::Index{.elements = ElementsOf(whole),
                   .source = ElementsOf(self->dims),
                   .dtype = self->dtype};
}

// Axes that an expanded tensor repeats are stored once.
AtenCall WithoutRepeats(AtenCall call) {
  for (size_t i = 0; i < call.arguments.inputs.size(); ++i) {
    if (call.arguments.inputs[i].kind != Argument::Kind::kTensor) {
      continue;
    }
    Dims& dims = call.arguments.inputs[i].tensors.front().dims;
    const Dims& strides = call.strides[i];
    for (size_t axis = 0; axis < std::min(dims.size(), strides.size());
         ++axis) {
      if (strides[axis] == 0) {
        dims[axis] = 1;
      }
    }
  }
  return call;
}

// Whether an operand's layout is across the first one's: along the first one's
// dense axis, its neighbours are apart.
bool IsScattered(const AtenCall& call) {
  const ir::Tensor* first = TensorAt(call, 0);
  if (first == nullptr || call.strides[0].size() != first->dims.size()) {
    return false;
  }
  const Dims& dims = first->dims;
  size_t dense = dims.size();
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    dense = dims[axis] > 1 && call.strides[0][axis] == 1 ? axis : dense;
  }
  for (size_t i = 1; i < call.strides.size() && dense < dims.size(); ++i) {
    const ir::Tensor* other = TensorAt(call, i);
    if (other != nullptr && other->dims == dims &&
        call.strides[i].size() == dims.size() && call.strides[i][dense] > 1) {
      return true;
    }
  }
  return false;
}

// "bf16", or "bytes2" where only the width is known.
ir::DType TypeFromNameOrWidth(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, ir::DType>, 4> kWidths = {{
      {"bytes1", ir::DType::kInt8},
      {"bytes2", ir::DType::kFp16},
      {"bytes4", ir::DType::kFp32},
      {"bytes8", ir::DType::kInt64},
  }};
  for (const auto& [name, type] : kWidths) {
    if (text == name) {
      return type;
    }
  }
  return ir::DTypeFromName(text).value_or(ir::DType::kUnknown);
}

}  // namespace

std::vector<ir::KernelShape> ShapesOf(const AtenRow& row,
                                      const trace::Rules& rules) {
  const auto call = ParseAtenCall({.op = row.op,
                                   .dtype = row.dtype,
                                   .input_dims = row.input_dims,
                                   .input_strides = row.input_strides,
                                   .concrete_inputs = row.concrete_inputs});
  if (!call) {
    return {};
  }
  std::vector<ir::KernelShape> shapes;
  if (row.op == "copy_" || row.op == "_local_scalar_dense") {
    shapes = {CopyShape(*call, row.kernel_names)};
  } else if (row.op == "sparse_add_") {
    shapes = {SparseAddShape(*call)};
  } else if (row.op == "index" && HasIndices(*call)) {
    shapes = {IndexShape(*call)};
  } else {
    const std::string name = "aten::" + std::string(row.op);
    shapes = ClassifyOp(rules, {.name = name, .arguments = &call->arguments});
    const AtenCall stored = WithoutRepeats(*call);
    const auto once =
        ClassifyOp(rules, {.name = name, .arguments = &stored.arguments});
    for (size_t i = 0; i < std::min(shapes.size(), once.size()); ++i) {
      auto* const whole = std::get_if<ir::Elementwise>(&shapes[i]);
      const auto* const reduced = std::get_if<ir::Elementwise>(&once[i]);
      if (whole != nullptr && reduced != nullptr) {
        whole->read = reduced->read;
        whole->scattered = IsScattered(*call);
      }
    }
  }
  const bool sized = std::ranges::all_of(shapes, ir::IsSized);
  return sized ? shapes : std::vector<ir::KernelShape>();
}

std::vector<ir::KernelShape> ShapesOf(const ConcatRow& row) {
  const ir::DType dtype = TypeFromNameOrWidth(row.dtype);
  const auto tensors = ParseDimsList(row.input_dims);
  if (!tensors || dtype == ir::DType::kUnknown) {
    return {};
  }
  // Tensors of more than four dimensions are copied one by one.
  std::vector<ir::KernelShape> copies;
  int64_t elements = 0;
  for (const Dims& dims : *tensors) {
    if (const int64_t size = ElementsOf(dims); size > 0) {
      copies.push_back(ir::Transpose{.elements = size, .dtype = dtype});
      elements += size;
    }
  }
  if (const auto kind = CopyKindOf(row.kernel_names);
      kind != ir::CopyKind::kUnknown && elements > 0) {
    return {ir::Copy{.kind = kind, .bytes = {elements * ir::SizeOf(dtype)}}};
  }
  // A processor has no kernels to name.
  if ((row.kernel_names.empty() ||
       row.kernel_names.find("CatArray") != std::string_view::npos) &&
      elements > 0) {
    return {ir::Concat{
        .tensors = std::ssize(copies), .elements = elements, .dtype = dtype}};
  }
  return copies;
}

}  // namespace stepcast::learn
