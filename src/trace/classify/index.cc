// Gathers and scatters by an index tensor; sorts, scans and searches.
#include <algorithm>
#include <optional>
#include <string_view>

#include "ir/names.h"
#include "trace/classify/sizers.h"

namespace stepcast::trace {
namespace {

// index_select(self, dim, index): whole slices of self.
int64_t Selected(const Arguments& arguments, const ir::Tensor& self) {
  const ir::Tensor* index = TensorAt(arguments, 2);
  if (index == nullptr || self.dims.empty()) {
    return 0;
  }
  if (self.dims.size() == 1) {
    return ElementCount(*index);
  }
  const auto axis = IntAt(arguments, 1);
  if (!axis) {
    return 0;
  }
  const auto rank = static_cast<int64_t>(self.dims.size());
  const int64_t at = *axis < 0 ? *axis + rank : *axis;
  if (at < 0 || at >= rank) {
    return 0;
  }
  std::vector<int64_t> dims = self.dims;
  dims[static_cast<size_t>(at)] = ElementCount(*index);
  return Product(dims);
}

// The elements that an op moves.
int64_t Moved(const OpContext& op, const ir::Tensor& self, bool scatter) {
  const Arguments& arguments = *op.arguments;
  const std::string_view name = PlainName(op.name);
  const auto elements_at = [&](size_t position) {
    const ir::Tensor* tensor = TensorAt(arguments, position);
    return tensor == nullptr ? 0 : ElementCount(*tensor);
  };
  if (name == "_index_put_impl" || name == "index_put") {
    return elements_at(2);  // (self, indices, values, ...)
  }
  if (name == "gather" || name.starts_with("scatter")) {
    return elements_at(2);  // (self, dim, index, ...)
  }
  if (name == "index_add" || name == "index_copy") {
    return elements_at(3);  // (self, dim, index, source)
  }
  if (name == "index_select") {
    return Selected(arguments, self);
  }
  if (name == "embedding" && self.dims.size() == 2) {
    return Times(elements_at(1), self.dims[1]);
  }
  if (const ir::Tensor* output = FirstTensor(arguments.outputs);
      output != nullptr && !scatter) {
    return ElementCount(*output);
  }
  return 0;
}

// Elements that are contiguous at each index: those after the axis.
int64_t SliceOf(const OpContext& op, const ir::Tensor& self) {
  const std::string_view name = PlainName(op.name);
  size_t axis = 0;
  if (name == "index_select" || name == "index_add" || name == "index_copy") {
    const auto given = IntAt(*op.arguments, 1);
    const auto rank = static_cast<int64_t>(self.dims.size());
    const int64_t at =
        given.value_or(0) < 0 ? *given + rank : given.value_or(0);
    if (!given || at < 0 || at >= rank) {
      return 0;
    }
    axis = static_cast<size_t>(at);
  } else if (name != "embedding") {
    return 0;
  }
  if (axis + 1 >= self.dims.size()) {
    return 1;
  }
  return Product({self.dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1,
                  self.dims.end()});
}

// index_put(self, indices, values, accumulate), scatter_add, index_add.
bool Accumulates(const OpContext& op) {
  const std::string_view name = PlainName(op.name);
  if (name == "index_put" || name == "_index_put_impl") {
    return IntAt(*op.arguments, 3).value_or(0) != 0;
  }
  return name == "scatter_add" || name == "index_add";
}

// permute_2D_sparse_data(permute, lengths [tables, batch], values, ...): one
// kernel for the lengths, one for the values.
ir::Index FromSparsePermute(const SizeRequest& request, const OpContext& op) {
  const bool is_lengths =
      request.facts.name.find("lengths") != std::string_view::npos;
  const ir::Tensor* moved = TensorAt(*op.arguments, is_lengths ? 1 : 2);
  if (moved == nullptr) {
    return {};
  }
  return {.elements = ElementCount(*moved),
          .source = ElementCount(*moved),
          .dtype = moved->dtype};
}

// The first word of the detail.
ir::SortKind SortKindOf(std::string_view detail) {
  return ir::FromName<ir::SortKind>(detail.substr(0, detail.find(' ')))
      .value_or(ir::SortKind::kSort);
}

// Set-up kernels clear a counter for each block of a scan: 128 threads with 15
// elements each in CUB's tuning for sm_60 and later. Those that add up the
// digits of a radix sort have 256 counters per pass, which is as little.
constexpr int64_t kElementsPerBlock = 1920;

// Everything sorted or scanned inside an embedding's backward is its lookups.
ir::Sort FromLookups(const SizeRequest& request, ir::SortKind kind) {
  return {.kind = kind,
          .elements = LookupsOf(request).lookups,
          .dtype = ir::DType::kInt64};
}

const ir::Tensor* LargestIndex(const Arguments& arguments) {
  const ir::Tensor* largest = nullptr;
  for (const Argument& argument : arguments.inputs) {
    if (argument.kind != Argument::Kind::kTensorList) {
      continue;
    }
    for (const ir::Tensor& tensor : argument.tensors) {
      if (largest == nullptr || ElementCount(tensor) > ElementCount(*largest)) {
        largest = &tensor;
      }
    }
  }
  return largest;
}

// As if the kernel went through all elements.
ir::Sort SizeWholeSort(const SizeRequest& request) {
  ir::Sort sort{.kind = SortKindOf(request.detail)};
  const RuledOp* ruled = FindWorkingOp(request);
  if (ruled == nullptr) {
    return sort;
  }
  if (ruled->IsFamily("embedding_bag")) {
    return FromLookups(request, sort.kind);
  }
  const Arguments& arguments = *ruled->op.arguments;
  const ir::Tensor* input = FirstTensor(arguments.inputs);
  if (ruled->IsFamily("index")) {
    // index_put sorts its indices first; permute_2D scans its lengths.
    input = ruled->op.name.starts_with("fbgemm::") ? TensorAt(arguments, 1)
                                                   : LargestIndex(arguments);
  } else if (ruled->rule != nullptr && !ruled->IsFamily("sort")) {
    return sort;
  }
  if (input != nullptr) {
    sort.elements = ElementCount(*input);
    sort.dtype = input->dtype;
  }
  return sort;
}

}  // namespace

ir::KernelShape SizeIndex(const SizeRequest& request) {
  const bool scatter = HasWord(request.detail, "scatter");
  const RuledOp* ruled = FindWorkingOp(request);
  if (ruled == nullptr) {
    return ir::Index{.scatter = scatter};
  }
  const OpContext& op = ruled->op;
  if (op.name.starts_with("fbgemm::permute_")) {
    return FromSparsePermute(request, op);
  }
  ir::Index index{.scatter = scatter};
  const bool fits = ruled->rule == nullptr || ruled->IsFamily("index");
  const ir::Tensor* self = FirstTensor(op.arguments->inputs);
  if (!fits || self == nullptr) {
    return index;
  }
  index.source = ElementCount(*self);
  index.elements = Moved(op, *self, scatter);
  index.dtype = self->dtype;
  index.slice = SliceOf(op, *self);
  index.accumulate = scatter && Accumulates(op);
  return index;
}

ir::KernelShape SizeSort(const SizeRequest& request) {
  ir::Sort sort = SizeWholeSort(request);
  if (HasWord(request.detail, "setup") && sort.elements > 0) {
    sort.elements = (sort.elements + kElementsPerBlock - 1) / kElementsPerBlock;
  }
  return sort;
}

}  // namespace stepcast::trace
