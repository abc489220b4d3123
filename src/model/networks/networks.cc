#include "model/networks/networks.h"

#include "model/frameworks/exchange.h"
#include "model/frameworks/torch/torch.h"

namespace stepcast::model {
namespace {

// Bytes of the inputs of a sample.
int64_t InputBytes(const Model& model) {
  constexpr int64_t kColours = 3;
  if (model.kind == ModelKind::kTransformer) {
    return model.transformer.sequence * ir::SizeOf(ir::DType::kInt64);
  }
  return kColours * model.image_size * model.image_size *
         ir::SizeOf(ir::DType::kFp32);
}

// Bytes of the targets of a sample: a class, or one at every place.
int64_t TargetBytes(const Model& model) {
  const bool each =
      model.kind == ModelKind::kTransformer && model.transformer.classes == 0;
  return (each ? model.transformer.sequence : 1) *
         ir::SizeOf(ir::DType::kInt64);
}

Tensor LogitsOf(Torch& torch, const Model& model, int64_t batch) {
  switch (model.kind) {
    case ModelKind::kResNet50:
      return ResNet50(torch, model, batch);
    case ModelKind::kInceptionV3:
      return InceptionV3(torch, model, batch);
    default:
      return RunTransformer(torch, model, batch);
  }
}

}  // namespace

void RunNetwork(const Model& model, const Settings& settings,
                const RankPlan& plan, const TorchOptions& options,
                StepBuilder& step) {
  Torch torch(step, options);
  const bool alone = plan.world == 1;
  Ddp ddp(torch, plan,
          alone ? ir::StreamId{} : step.AddStream(kCollectiveStream),
          SummedGradients::kCopies, settings.bucket_mib);
  if (!alone) {
    torch.OnBackward([&ddp] { ddp.Finish(); });  // After all others.
    torch.SetGradientHook([&ddp](int64_t elements) { ddp.Reduce(elements); });
  }
  const auto copy = [&](int64_t bytes) {
    const OpScope op(step, "aten::to");
    step.CopyToDevice(settings.batch * bytes, settings.pinned, /*waits=*/true);
  };
  copy(InputBytes(model));
  if (options.train) {
    copy(TargetBytes(model));
  }
  const CudaGraphs graphs = settings.cuda_graphs;
  if (graphs != CudaGraphs::kOff) {
    step.BeginCapture();
  }
  const Tensor logits = LogitsOf(torch, model, settings.batch);
  if (!options.train) {
    step.EndCapture();
    const OpScope op(step, "aten::to");
    step.CopyToHost(logits.bytes());
    return;
  }
  ddp.SetParameters(torch.parameter_count());
  GradScaler scaler(torch);
  torch.CrossEntropy(logits);
  scaler.ScaleLoss();
  if (graphs == CudaGraphs::kForward) {
    step.EndCapture();
  }
  torch.ZeroGrad();
  torch.Backward();
  if (graphs == CudaGraphs::kForwardBackward) {
    step.EndCapture();
  }
  scaler.Unscale(torch.parameter_elements());
  if (graphs != CudaGraphs::kAll) {
    scaler.ReadOverflow();
  }
  torch.OptimizerStep();
  scaler.UpdateScale();
  step.EndCapture();
}

}  // namespace stepcast::model
