#include "measurements/aten_shape.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "ingest/classify/classify.h"
#include "measurements/aten_call.h"

namespace stepcast::measurements {
namespace {

using ingest::Argument;

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

// Elements that lie next to each other in both layouts.
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

// Whether an operand lies across the first one: along the first one's dense
// axis, its neighbours are apart.
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
                                      const ingest::Rules& rules) {
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

}  // namespace stepcast::measurements
