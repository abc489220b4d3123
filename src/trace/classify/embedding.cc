// Embedding lookups and their backward: FBGEMM's table-batched ops and ATen's.
#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "ir/names.h"
#include "trace/classify/sizers.h"

namespace stepcast::trace {
namespace {

bool IsVector(const ir::Tensor* tensor) {
  return tensor != nullptr && tensor->dims.size() == 1;
}

bool IsFloat(ir::DType dtype) {
  return dtype == ir::DType::kFp32 || dtype == ir::DType::kFp16 ||
         dtype == ir::DType::kBf16 || dtype == ir::DType::kFp64 ||
         dtype == ir::DType::kFp8 || dtype == ir::DType::kUint8;
}

// kUnknown means 64 bits.
ir::DType IndexType(const ir::Tensor& indices) {
  return indices.dtype == ir::DType::kInt32 ? indices.dtype
                                            : ir::DType::kUnknown;
}

// FBGEMM's signatures grow with every release, but all its lookups and their
// backwards keep this order:
//
//   ... weights ..., D_offsets int[T+1], (total_D,) max_D,
//   hash_size_cumsum long[T+1], total_hash_size_bits, indices[L],
//   offsets[T*B+1], ..., lxu_cache_locations int[], ..., momentum1 ...
//
// Forwards without an optimizer leave total_hash_size_bits out; of these the
// processor's has total_D and no max_D.
struct TableBatch {
  size_t d_offsets = 0;
  size_t cumsum = 0;
  size_t indices = 0;
  size_t offsets = 0;

  bool has_total() const {
    return cumsum == d_offsets + 3 ||
           (cumsum == d_offsets + 2 && indices == cumsum + 1);
  }
  bool has_max() const {
    return cumsum == d_offsets + 3 || indices == cumsum + 2;
  }
};

// Where the ids follow the cumulated rows: after total_hash_size_bits or,
// without it, at once. 0 if they are at neither place.
size_t FindIndices(const Arguments& arguments, size_t cumsum) {
  for (const size_t at : {cumsum + 2, cumsum + 1}) {
    if (at + 1 < arguments.inputs.size() && IsVector(TensorAt(arguments, at)) &&
        IsVector(TensorAt(arguments, at + 1))) {
      return at;
    }
  }
  return 0;
}

std::optional<TableBatch> FindTableBatch(const Arguments& arguments) {
  for (size_t i = 0; i < arguments.inputs.size(); ++i) {
    const ir::Tensor* d_offsets = TensorAt(arguments, i);
    if (!IsVector(d_offsets) || d_offsets->dtype != ir::DType::kInt32) {
      continue;
    }
    // After D_offsets come at most two numbers, then the cumulated rows.
    for (size_t j = i + 1; j <= i + 3 && j < arguments.inputs.size(); ++j) {
      const ir::Tensor* cumsum = TensorAt(arguments, j);
      const size_t indices = FindIndices(arguments, j);
      if (IsVector(cumsum) && cumsum->dtype == ir::DType::kInt64 &&
          cumsum->dims == d_offsets->dims && d_offsets->dims[0] > 1 &&
          indices > 0) {
        return TableBatch{.d_offsets = i,
                          .cumsum = j,
                          .indices = indices,
                          .offsets = indices + 1};
      }
    }
  }
  return std::nullopt;
}

struct Weights {
  int64_t elements = 0;
  ir::DType dtype = ir::DType::kUnknown;
};

// The tables on the device and in managed memory: flat, before D_offsets.
Weights FindWeights(const Arguments& arguments, const TableBatch& batch) {
  Weights weights;
  for (size_t i = 0; i < batch.d_offsets; ++i) {
    for (const ir::Tensor& tensor : arguments.inputs[i].tensors) {
      if (tensor.dims.size() == 1 && IsFloat(tensor.dtype)) {
        const int64_t elements = ElementCount(tensor);
        weights.elements = Plus(weights.elements, elements);
        weights.dtype = elements > 0 || weights.dtype == ir::DType::kUnknown
                            ? tensor.dtype
                            : weights.dtype;
      }
    }
  }
  return weights;
}

// Row-wise optimizers keep one number per row: the momenta, on the device and
// in managed memory, have as many elements as the tables have rows. They are
// the first flat float tensors after the cache locations.
int64_t RowsFromMomentum(const Arguments& arguments, const TableBatch& batch) {
  size_t at = batch.offsets + 1;
  const auto type_at = [&](size_t i) {
    const ir::Tensor* tensor = TensorAt(arguments, i);
    return IsVector(tensor) ? tensor->dtype : ir::DType::kUnknown;
  };
  while (at < arguments.inputs.size() && type_at(at) != ir::DType::kInt32) {
    ++at;
  }
  int64_t rows = 0;
  for (int found = 0; at < arguments.inputs.size() && found < 2; ++at) {
    if (IsFloat(type_at(at))) {
      rows = Plus(rows, ElementCount(*TensorAt(arguments, at)));
      ++found;
    }
  }
  return rows;
}

// What one op shows.
struct Lookups {
  ir::EmbeddingBag bag{};
  int64_t weights = 0;  // Elements of all tables.
  int64_t columns = 0;  // Of all tables: total_D.
};

Lookups FromTableBatch(std::string_view name, const Arguments& arguments,
                       const TableBatch& batch) {
  Lookups found;
  ir::EmbeddingBag& bag = found.bag;
  bag.tables = TensorAt(arguments, batch.d_offsets)->dims[0] - 1;
  bag.lookups = TensorAt(arguments, batch.indices)->dims[0];
  bag.index_dtype = IndexType(*TensorAt(arguments, batch.indices));
  bag.batch = (TensorAt(arguments, batch.offsets)->dims[0] - 1) / bag.tables;
  const Weights weights = FindWeights(arguments, batch);
  found.weights = weights.elements;
  bag.dtype = weights.dtype;
  if (batch.has_max()) {
    bag.max_dim = IntAt(arguments, batch.cumsum - 1).value_or(0);
  }
  if (batch.has_total()) {
    found.columns = IntAt(arguments, batch.d_offsets + 1).value_or(0);
  }
  // The result has all columns of a sample, and so has its gradient, which is
  // a backward's first argument.
  for (const ir::Tensor* tensor :
       {FirstTensor(arguments.outputs), TensorAt(arguments, 0)}) {
    if (found.columns <= 0 && tensor != nullptr && tensor->dims.size() == 2 &&
        tensor->dims[0] == bag.batch) {
      found.columns = tensor->dims[1];
    }
  }
  if (name.find("rowwise") != std::string_view::npos) {
    bag.rows = RowsFromMomentum(arguments, batch);
  }
  return found;
}

// aten::embedding_bag(weight, indices, offsets), aten::embedding(weight,
// indices), and their backwards (grad, indices, offsets or number of rows).
ir::EmbeddingBag FromAten(std::string_view name, const Arguments& arguments) {
  const ir::Tensor* first = TensorAt(arguments, 0);
  const ir::Tensor* indices = TensorAt(arguments, 1);
  const ir::Tensor* offsets = TensorAt(arguments, 2);
  if (first == nullptr || first->dims.empty() || indices == nullptr) {
    return {};
  }
  const bool is_backward = name.find("backward") != std::string_view::npos;
  const bool is_bag = name.find("bag") != std::string_view::npos;
  ir::EmbeddingBag bag{.tables = 1,
                       .dim = first->dims.back(),
                       .lookups = ElementCount(*indices),
                       .dtype = first->dtype,
                       .pooled = is_bag,
                       .index_dtype = IndexType(*indices),
                       .kernel = ir::BagKernel::kPerTable};
  bag.batch = bag.lookups;
  if (is_backward && is_bag) {
    bag.batch = first->dims[0];
  } else if (is_bag && offsets != nullptr) {
    bag.batch = ElementCount(*offsets);
  }
  if (!is_backward) {
    bag.rows = first->dims.size() == 2 ? first->dims[0] : 0;
  } else if (const ir::Tensor* out = FirstTensor(arguments.outputs)) {
    bag.rows = out->dims.empty() ? 0 : out->dims[0];
  } else if (!is_bag) {
    bag.rows = IntAt(arguments, 2).value_or(0);
  }
  return bag;
}

Lookups FromOp(const OpContext& op) {
  if (op.arguments == nullptr) {
    return {};
  }
  if (const auto batch = FindTableBatch(*op.arguments)) {
    return FromTableBatch(op.name, *op.arguments, *batch);
  }
  if (op.name.starts_with("aten::")) {
    return {.bag = FromAten(op.name, *op.arguments)};
  }
  // Autograd's node has only the gradient [batch, columns of all tables].
  Lookups found;
  const ir::Tensor* gradient = FirstTensor(op.arguments->inputs);
  if (gradient != nullptr && gradient->dims.size() == 2) {
    found.bag.batch = gradient->dims[0];
    found.bag.dtype = gradient->dtype;
    found.columns = gradient->dims[1];
  }
  return found;
}

int64_t Either(int64_t number, int64_t other) {
  return number > 0 ? number : std::max<int64_t>(other, 0);
}

// Both passes of one lookup: what one op does not show, the other may.
ir::EmbeddingBag JoinLookups(const Lookups& a, const Lookups& b) {
  ir::EmbeddingBag bag{.tables = Either(a.bag.tables, b.bag.tables),
                       .rows = Either(a.bag.rows, b.bag.rows),
                       .dim = Either(a.bag.dim, b.bag.dim),
                       .batch = Either(a.bag.batch, b.bag.batch),
                       .lookups = Either(a.bag.lookups, b.bag.lookups)};
  // The op that knows the tables knows their type; a gradient has its own.
  bag.dtype = a.bag.tables > 0 || b.bag.dtype == ir::DType::kUnknown
                  ? a.bag.dtype
                  : b.bag.dtype;
  const Lookups& knows = a.bag.tables > 0 ? a : b;
  bag.pooled = knows.bag.pooled;
  bag.index_dtype = knows.bag.index_dtype;
  bag.max_dim = knows.bag.max_dim;
  bag.kernel = knows.bag.kernel;
  const int64_t weights = Either(a.weights, b.weights);
  const int64_t columns = Either(a.columns, b.columns);
  if (bag.dim == 0 && columns > 0 && bag.tables > 0) {
    bag.dim = columns / bag.tables;
  }
  if (bag.dim == 0 && bag.rows > 0) {
    bag.dim = weights / bag.rows;
  }
  if (bag.rows == 0 && bag.dim > 0) {
    bag.rows = weights / bag.dim;
  }
  return bag;
}

// The whole numbers among the template arguments of a kernel: 5 of
// "kernel<float, long, 5ul>(...)".
std::vector<int64_t> TemplateNumbers(std::string_view kernel) {
  constexpr std::string_view kSuffix = "ul";
  std::vector<int64_t> numbers;
  const size_t begin = std::min(kernel.find('<'), kernel.size());
  std::string_view rest = kernel.substr(begin, kernel.find('>', begin) - begin);
  while (!rest.empty()) {
    rest.remove_prefix(1);  // What is before an argument: '<', ',' or ' '.
    std::string_view argument = rest.substr(0, rest.find_first_of(", "));
    rest.remove_prefix(argument.size());
    if (argument.ends_with(kSuffix)) {
      argument.remove_suffix(kSuffix.size());
    }
    int64_t number = 0;
    const char* const end = argument.data() + argument.size();
    const auto [stop, error] = std::from_chars(argument.data(), end, number);
    if (error == std::errc() && stop == end && number > 0) {
      numbers.push_back(number);
    }
  }
  return numbers;
}

// The most columns that a kernel of FBGEMM is made for: its name says how many
// vectors of 4 a thread holds and, in newer versions, how many threads share a
// row.
int64_t MostColumns(std::string_view kernel) {
  constexpr int64_t kVector = 4;
  constexpr int64_t kWarp = 32;
  const std::vector<int64_t> numbers = TemplateNumbers(kernel);
  if (numbers.empty()) {
    return 0;
  }
  return Times(kVector * numbers[0], numbers.size() > 1 ? numbers[1] : kWarp);
}

// Sets an enum whose name is one of the words of a rule's detail.
template <typename E>
void SetFromDetail(std::string_view detail, E& value) {
  for (const std::string_view word : ir::Names<E>::kList) {
    if (HasWord(detail, word)) {
      value = *ir::FromName<E>(word);
    }
  }
}

}  // namespace

ir::EmbeddingBag LookupsOf(const SizeRequest& request) {
  const RuledOp* op = FindOp(request, "embedding_bag");
  if (op == nullptr) {
    return {};
  }
  return JoinLookups(FromOp(op->op), FromOp(request.facts.partner));
}

ir::KernelShape SizeEmbedding(const SizeRequest& request) {
  ir::EmbeddingBag bag = LookupsOf(request);
  bag.pass = PassOf(request.detail);
  SetFromDetail(request.detail, bag.update);
  SetFromDetail(request.detail, bag.kernel);
  SetFromDetail(request.detail, bag.part);
  if (bag.max_dim == 0 && bag.kernel == ir::BagKernel::kTableBatched) {
    bag.max_dim = MostColumns(request.facts.name);
  }
  return bag;
}

}  // namespace stepcast::trace
