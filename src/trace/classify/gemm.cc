// Matrix products: cuBLAS, CUTLASS, rocBLAS and Triton kernels.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "trace/classify/sizers.h"

namespace stepcast::trace {
namespace {

// Where an op keeps its two factors.
struct GemmOp {
  std::string_view name;  // Without namespace and trailing '_'.
  size_t a = 0;
  size_t b = 0;
  bool second_transposed = false;  // linear's weight is [n, k].
};

constexpr std::array<GemmOp, 13> kGemmOps = {{
    {"mm", 0, 1},
    {"bmm", 0, 1},
    {"matmul", 0, 1},
    {"mv", 0, 1},
    {"dot", 0, 1},
    {"_scaled_mm", 0, 1},
    {"_int_mm", 0, 1},
    {"linear", 0, 1, true},
    {"addmm", 1, 2},
    {"_addmm_activation", 1, 2},
    {"baddbmm", 1, 2},
    {"addbmm", 1, 2},
    {"addmv", 1, 2},
}};

struct Layout {
  bool transpose_a = false;
  bool transpose_b = false;
};

// cuBLAS stores matrices by columns, PyTorch by rows: a row-major c = a b runs
// as cT = bT aT. So of "_tn" and the like the first letter is about b, the
// second about a.
std::optional<Layout> LayoutFromName(std::string_view kernel) {
  // Tensile: its A is transposed with the summation index first (Alik), its B
  // with the summation index second (Bjlk).
  if (kernel.find("Cijk_A") != std::string_view::npos) {
    return Layout{
        .transpose_a = kernel.find("_Bjlk") != std::string_view::npos,
        .transpose_b = kernel.find("_Alik") != std::string_view::npos};
  }
  const auto transposed = [](char letter) -> std::optional<bool> {
    if (letter == 't' || letter == 'T') {
      return true;
    }
    return letter == 'n' || letter == 'N' ? std::optional(false) : std::nullopt;
  };
  std::string_view rest = kernel;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find_first_of("_<>("), rest.size());
    if (end == 2) {
      const auto first = transposed(rest[0]);
      const auto second = transposed(rest[1]);
      if (first && second) {
        return Layout{.transpose_a = *second, .transpose_b = *first};
      }
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::nullopt;
}

// c[..., m, n] = a[..., m, k] b[..., k, n]; vectors are matrices with one row
// or column.
std::optional<ir::Gemm> Multiply(std::vector<int64_t> a,
                                 std::vector<int64_t> b) {
  if (a.empty() || b.empty()) {
    return std::nullopt;
  }
  if (a.size() == 1) {
    a.insert(a.begin(), 1);
  }
  if (b.size() == 1) {
    b.push_back(1);
  }
  ir::Gemm gemm{.m = a[a.size() - 2], .n = b.back(), .k = a.back()};
  if (b[b.size() - 2] != gemm.k) {
    return std::nullopt;
  }
  const std::span<const int64_t> a_batch(a.data(), a.size() - 2);
  const std::span<const int64_t> b_batch(b.data(), b.size() - 2);
  if (b_batch.empty()) {
    // One matrix on the right: the batch is only more rows.
    gemm.batch = 1;
    gemm.m = Times(gemm.m, Product(a_batch));
  } else {
    gemm.batch = std::max(Product(a_batch), Product(b_batch));
  }
  return gemm;
}

}  // namespace

std::optional<std::pair<size_t, size_t>> FactorsOf(std::string_view op) {
  const auto* const row =
      std::ranges::find(kGemmOps, PlainName(op), &GemmOp::name);
  if (row == kGemmOps.end() || row->second_transposed) {
    return std::nullopt;
  }
  return std::pair(row->a, row->b);
}

std::optional<ir::Gemm> GemmOf(const OpContext& op) {
  const std::string_view name = PlainName(op.name);
  const auto* const row = std::ranges::find(kGemmOps, name, &GemmOp::name);
  if (row == kGemmOps.end() || op.arguments == nullptr) {
    return std::nullopt;
  }
  const ir::Tensor* a = TensorAt(*op.arguments, row->a);
  const ir::Tensor* b = TensorAt(*op.arguments, row->b);
  if (a == nullptr || b == nullptr) {
    return std::nullopt;
  }
  std::vector<int64_t> b_dims = b->dims;
  if (row->second_transposed && b_dims.size() == 2) {
    std::swap(b_dims[0], b_dims[1]);
  }
  auto gemm = Multiply(a->dims, std::move(b_dims));
  if (gemm) {
    gemm->dtype = a->dtype;
    gemm->transpose_b = row->second_transposed;
  }
  return gemm;
}

ir::KernelShape SizeGemm(const SizeRequest& request) {
  // A product inside a convolution is the convolution: cuDNN and MIOpen run
  // 1x1 filters and the middle of Winograd's algorithm as one.
  const RuledOp* convolution = FindOp(request, "convolution");
  const RuledOp* product = FindOp(request, "gemm");
  if (product == nullptr && convolution != nullptr) {
    return SizeConvolution(request);
  }
  ir::Gemm gemm;
  if (product != nullptr) {
    gemm = GemmOf(product->op).value_or(ir::Gemm{});
  }
  if (const auto layout = LayoutFromName(request.facts.name)) {
    gemm.transpose_a = layout->transpose_a;
    gemm.transpose_b = layout->transpose_b;
  }
  // Tensor cores take fp32 tensors too; only the kernel's name shows it.
  const auto kernel_type = ir::DTypeFromName(request.detail);
  if (kernel_type &&
      (gemm.dtype == ir::DType::kUnknown ||
       (*kernel_type == ir::DType::kTf32 && gemm.dtype == ir::DType::kFp32))) {
    gemm.dtype = *kernel_type;
  }
  return gemm;
}

}  // namespace stepcast::trace
