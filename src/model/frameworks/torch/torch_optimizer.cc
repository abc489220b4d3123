// Gradients cleared and parameters updated, as torch.optim does.
#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "model/frameworks/torch/torch.h"

namespace stepcast::model {
namespace {

// One op on a parameter: the tensors of its size that it reads.
struct UpdateOp {
  std::string_view name;
  int64_t inputs = 0;
  ir::Arithmetic arithmetic = ir::Arithmetic::kPlain;
};

// torch.optim of 2022 with foreach=False; sums of the step's number on the CPU
// are UpdateOps without inputs.
constexpr UpdateOp kAdagradOps[] = {
    {"aten::add_", 0},     {"aten::item", 0},
    {"aten::addcmul_", 3}, {"aten::sqrt", 1, ir::Arithmetic::kDivision},
    {"aten::add_", 1},     {"aten::addcdiv_", 3, ir::Arithmetic::kDivision}};
constexpr UpdateOp kAdamOps[] = {
    {"aten::add_", 0},
    {"aten::item", 0},
    {"aten::mul_", 1},
    {"aten::add_", 2},
    {"aten::mul_", 1},
    {"aten::addcmul_", 3},
    {"aten::sqrt", 1, ir::Arithmetic::kDivision},
    {"aten::div", 1, ir::Arithmetic::kDivision},
    {"aten::add_", 1},
    {"aten::addcdiv_", 3, ir::Arithmetic::kDivision}};

std::span<const UpdateOp> OpsOf(Optimizer optimizer) {
  return optimizer == Optimizer::kAdam ? std::span<const UpdateOp>(kAdamOps)
                                       : std::span<const UpdateOp>(kAdagradOps);
}

std::string_view TorchName(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::kSgd:
      return "SGD";
    case Optimizer::kAdagrad:
    case Optimizer::kRowwiseAdagrad:
      return "Adagrad";
    case Optimizer::kAdam:
      return "Adam";
  }
  return "";
}

// "Optimizer.step#SGD.step"
std::string Title(std::string_view what, Optimizer optimizer) {
  std::string title("Optimizer.");
  title += what;
  title += '#';
  title += TorchName(optimizer);
  title += '.';
  title += what;
  return title;
}

// multi_tensor_apply: a launch has up to 320 blocks, each a chunk of 65,536
// elements, and so many tensors by how many lists it goes through
// (MultiTensorApply.cuh).
constexpr int64_t kChunk = 65'536;
constexpr int64_t kMostBlocks = 320;
constexpr int64_t kMostTensors[] = {110, 64, 48, 36, 30};

}  // namespace

void Torch::ZeroGrad() {
  if (!options_.train || since_2023()) {
    return;
  }
  const ir::DType dtype = options_.types.parameter;
  const std::string title = Title("zero_grad", options_.optimizer);
  if (before_2022()) {
    step_.Op("aten::zeros");
  }
  step_.Begin(title, before_2022() ? ir::OpKind::kOp : ir::OpKind::kAnnotation);
  for (const int64_t elements : parameters_) {
    if (before_2022()) {
      step_.Launch(Zeros(elements, dtype));
      continue;
    }
    const OpScope op(step_, "aten::zero_");
    step_.Launch(Zeros(elements, dtype));
  }
  step_.End();
}

void Torch::OptimizerStep() {
  if (!options_.train) {
    return;
  }
  if (before_2022()) {
    step_.Op("aten::zeros");
  }
  step_.Begin(Title("step", options_.optimizer),
              before_2022() ? ir::OpKind::kOp : ir::OpKind::kAnnotation);
  if (options_.form == OptimizerForm::kPerTensor) {
    for (const int64_t elements : parameters_) {
      Update(elements);
    }
  } else if (!parameters_.empty()) {
    UpdateAll();
  }
  step_.End();
  if (before_2022()) {
    step_.Op("aten::zeros");
    step_.Op("aten::zeros");
  }
}

void Torch::Update(int64_t elements) {
  const ir::DType dtype = options_.types.parameter;
  const bool nested = before_2022();
  if (options_.optimizer == Optimizer::kSgd) {
    if (!nested) {
      step_.Begin("aten::add_");
    }
    step_.Launch(ir::OptimizerStep{.update = ir::Update::kSgd,
                                   .tensors = 1,
                                   .elements = elements,
                                   .dtype = dtype});
    if (!nested) {
      step_.End();
    }
    return;
  }
  for (const UpdateOp& update : OpsOf(options_.optimizer)) {
    if (!nested) {
      step_.Begin(update.name);
    }
    if (update.inputs > 0) {
      step_.Launch(Stream(elements, update.inputs, dtype, update.arithmetic));
    }
    if (!nested) {
      step_.End();
    }
  }
}

void Torch::UpdateAll() {
  const Optimizer optimizer = options_.optimizer;
  if (options_.form == OptimizerForm::kFused) {
    Foreach(optimizer == Optimizer::kAdam ? "aten::_fused_adam_"
                                          : "multi_tensor_sgd",
            optimizer == Optimizer::kAdam ? 4 : 2, UpdateOf(optimizer));
    return;
  }
  if (optimizer == Optimizer::kSgd) {
    Foreach("aten::_foreach_add_", 2, ir::Update::kSgd);
    return;
  }
  for (const UpdateOp& update : OpsOf(optimizer)) {
    if (update.inputs > 0) {
      std::string name("aten::_foreach_");
      name += update.name.substr(std::string_view("aten::").size());
      Foreach(name, update.inputs, ir::Update::kOther);
    }
  }
}

// One op over all parameters, in as many launches as it takes.
void Torch::Foreach(std::string_view op, int64_t inputs, ir::Update update) {
  const OpScope scope(step_, op);
  const int64_t most_tensors =
      kMostTensors[std::clamp<int64_t>(inputs, 1, 5) - 1];
  ir::OptimizerStep part{.update = update, .dtype = options_.types.parameter};
  int64_t blocks = 0;
  const auto launch = [&] {
    if (part.elements > 0) {
      step_.Launch(part);
    }
    part.tensors = 0;
    part.elements = 0;
    blocks = 0;
  };
  for (const int64_t elements : parameters_) {
    ++part.tensors;
    for (int64_t at = 0; at < elements; at += kChunk) {
      part.elements += std::min(kChunk, elements - at);
      if (++blocks == kMostBlocks) {
        launch();
        part.tensors = at + kChunk < elements ? 1 : 0;
      }
    }
    if (part.tensors == most_tensors) {
      launch();
    }
  }
  launch();
}

}  // namespace stepcast::model
