#include "model/frameworks/torch/torch.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>

namespace stepcast::model {

void GradScaler::ScaleLoss() {
  if (!used_) {
    return;
  }
  {
    const OpScope op(torch_.step(), "aten::mul");
    torch_.step().Launch(Stream(1, 1, ir::DType::kFp32));
  }
  torch_.OnBackward(
      [this] { torch_.Node("MulBackward0", Stream(1, 1, ir::DType::kFp32)); });
}

void GradScaler::Unscale(int64_t elements) {
  if (!used_ || elements == 0) {
    return;
  }
  const OpScope op(torch_.step(),
                   "aten::_amp_foreach_non_finite_check_and_unscale_");
  torch_.step().Launch(Stream(elements, 1, torch_.options().types.parameter));
}

void GradScaler::ReadOverflow() {
  if (!used_) {
    return;
  }
  const OpScope op(torch_.step(), "aten::item");
  torch_.step().CopyToHost(ir::SizeOf(ir::DType::kFp32));
}

void GradScaler::UpdateScale() {
  if (!used_) {
    return;
  }
  const OpScope op(torch_.step(), "aten::_amp_update_scale_");
  torch_.step().Launch(Stream(1, 2, ir::DType::kFp32));
}

namespace {

// Nodes that PyTorch 1.8 already numbered, because their op has several
// gradients; all others got their 0 later.
constexpr std::array<std::string_view, 9> kNumberedEarly = {
    "ReluBackward0", "BmmBackward0",  "TransposeBackward0",
    "AddBackward0",  "MulBackward0",  "SumBackward1",
    "MeanBackward0", "MeanBackward1", "DivBackward0"};

constexpr std::string_view kEvaluate = "autograd::engine::evaluate_function: ";

// cuBLAS splits the sum of a long product over thread blocks; a counter for
// each tile of the result is cleared before, or partial sums are added after:
// one more call. With these lengths, 139 of the 144 ops that launch something
// in the V100 traces of DLRM_default and DLRM_MLPerf at batch 2048 make as many
// calls, and 19 of 20 products of 16 rows in the 8-GPU TorchRec trace.
constexpr int64_t kLongSum = 1024;
constexpr int64_t kLongSumOfFewRows = 512;
constexpr int64_t kFewRows = 32;
constexpr int64_t kTileEdge = 64;

// PyTorch's column sums (Reduce.cuh): a block has 128 threads, 4 columns each.
// If a thread would add this many rows, blocks share the work and count each
// other by semaphores, which are cleared before.
constexpr int64_t kSumThreads = 128;
constexpr int64_t kSumColumnsOfThread = 4;
constexpr int64_t kSumWarp = 32;
constexpr int64_t kManyRowsOfThread = 256;

// Before cuBLAS 11, matrix units took FP16 products with all sizes multiples of
// this alone (NVIDIA, "Matrix Multiplication Background User's Guide", tensor
// core requirements by version). The others are computed by the lanes of FP32,
// and counted as such; that they read half the bytes is left out.
constexpr int64_t kUnitsAlignment = 8;

int64_t Tiles(int64_t length) {
  return (length + kTileEdge - 1) / kTileEdge;
}

}  // namespace

void Torch::Label() {
  if (before_2022()) {
    step_.Op("aten::zeros");
    step_.Op("aten::empty");
  }
}

void Torch::BeginNode(std::string_view name) {
  if (!before_2022()) {
    std::string text(kEvaluate);
    text += name;
    step_.Begin(text);
    return;
  }
  const bool numbered =
      std::ranges::find(kNumberedEarly, name) != kNumberedEarly.end();
  if (!numbered && name.ends_with('0')) {
    name.remove_suffix(1);
  }
  step_.Begin(name);
}

void Torch::Node(std::string_view name) {
  const NodeScope node(*this, name);
}

void Torch::Node(std::string_view name, const ir::KernelShape& shape) {
  const NodeScope node(*this, name);
  step_.Launch(shape);
}

void Torch::AddGradients(const ir::KernelShape& shape) {
  if (!before_2022()) {
    step_.Launch(shape);
    return;
  }
  step_.End();
  step_.Begin("aten::add");
  step_.Launch(shape);
}

ir::Gemm Torch::OnUnits(ir::Gemm gemm) const {
  const bool aligned = gemm.m % kUnitsAlignment == 0 &&
                       gemm.n % kUnitsAlignment == 0 &&
                       gemm.k % kUnitsAlignment == 0;
  if (before_2021() && gemm.dtype == ir::DType::kFp16 && !aligned) {
    gemm.dtype = ir::DType::kFp32;
  }
  return gemm;
}

void Torch::Product(const ir::Gemm& gemm) {
  const bool vector = gemm.n == 1;
  const int64_t long_sum =
      std::min(gemm.m, gemm.n) <= kFewRows ? kLongSumOfFewRows : kLongSum;
  if (gemm.batch == 1 && !vector && gemm.k >= long_sum) {
    step_.Memset(ir::SizeOf(ir::DType::kInt32) * Tiles(gemm.m) * Tiles(gemm.n));
  }
  step_.Launch(OnUnits(gemm));
}

void Torch::SumRows(int64_t rows, int64_t columns, ir::DType dtype) {
  const auto threads_across =
      static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(
          std::clamp<int64_t>(columns / kSumColumnsOfThread, 1, kSumWarp))));
  const int64_t rows_at_once = kSumThreads / threads_across;
  if (columns > 1 && rows / rows_at_once >= kManyRowsOfThread) {
    step_.Memset(ir::SizeOf(ir::DType::kInt32) * columns);
  }
  step_.Launch(ColumnSum(rows, columns, dtype));
}

void Torch::AccumulateGrad(int64_t elements) {
  const ir::DType dtype = options_.types.parameter;
  if (before_2022()) {
    const OpScope op(step_, "torch::autograd::AccumulateGrad");
    step_.Launch(Stream(elements, 2, dtype));
    GradientReady(elements);
    return;
  }
  const OpScope op(step_,
                   "autograd::engine::evaluate_function: "
                   "torch::autograd::AccumulateGrad");
  // Later releases drop gradients instead of clearing them; the first one to
  // come is kept as it is.
  if (!since_2023()) {
    step_.Launch(Stream(elements, 2, dtype));
  }
  GradientReady(elements);
}

void Torch::UncastGradient(int64_t elements) {
  if (options_.types.cast) {
    Node("ToCopyBackward0",
         Cast(elements, options_.types.product, options_.types.parameter));
  }
}

void Torch::UncastPart(const Tensor& part, ir::DType from) {
  if (part.grad && ir::SizeOf(part.dtype) != ir::SizeOf(from)) {
    Node("ToCopyBackward0", Cast(part.elements(), from, part.dtype));
  }
}

void Torch::CastInside(int64_t elements, ir::DType from, ir::DType to) {
  if (ir::SizeOf(from) != ir::SizeOf(to)) {
    step_.Launch(Cast(elements, from, to));
  }
}

void Torch::Backward() {
  if (!options_.train) {
    return;
  }
  {
    const OpScope op(step_, "aten::ones_like");
    step_.Launch(Zeros(1, ir::DType::kFp32));
  }
  step_.SetPhase(ir::Phase::kBackward);
  step_.UseAutograd();
  for (auto node = tape_.rbegin(); node != tape_.rend(); ++node) {
    (*node)();
  }
  tape_.clear();
  step_.UseMain();
  step_.SetPhase(ir::Phase::kOptimizer);
}

}  // namespace stepcast::model
