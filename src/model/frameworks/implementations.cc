#include "model/frameworks/implementations.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/text/nearest.h"

namespace stepcast::model {
namespace {

constexpr Implementation kImplementations[] = {
    {.name = "pytorch",
     .help = "eager PyTorch as facebookresearch/dlrm, table-batched embeddings",
     .overheads = "v100-hipc-2022",
     .cpu_runtime = "pytorch",
     .sharding = ShardingRule::kChunks,
     .other_models = true,
     .placements = true,
     .cuda_graphs = true,
     .ddp = true,
     .build = BuildPytorch},
    {.name = "pytorch-bags",
     .help = "the same with one nn.EmbeddingBag per table",
     .overheads = "v100-hipc-2022",
     .cpu_runtime = "pytorch",
     .sharding = ShardingRule::kChunks,
     .other_models = true,
     .cuda_graphs = true,
     .ddp = true,
     .fused = "pytorch",
     .build = BuildPytorchBags},
    {.name = "torchrec",
     .help = "TorchRec: FBGEMM tables, DDP, sparse-distribution pipeline",
     .overheads = "v100-8gpu-dlrm-2023",  // A step of TorchRec's own DLRM.
     .cpu_runtime = "pytorch",
     .sharding = ShardingRule::kTorchrec,
     .placements = true,
     .plans = true,
     .ddp = true,
     .prefetches = true,
     .build = BuildTorchrec},
    {.name = "nvidia",
     .help = "NVIDIA's PyTorch DLRM: fused gather, interaction and MLPs",
     .overheads = "nvidia-pytorch",
     .cpu_runtime = "pytorch",
     .sharding = ShardingRule::kNvidia,
     .cuda_graphs = true,
     .ddp = true,
     .build = BuildNvidia},
    {.name = "hugectr",
     .help = "HugeCTR-like: everything fused, one CUDA graph per step",
     .overheads = "nvidia-pytorch",
     .cpu_runtime = "ipex",
     .sharding = ShardingRule::kHugectr,
     .cuda_graphs = true,
     .hierarchical = true,
     .build = BuildHugectr},
    {.name = "hugectr-localized",
     .help = "the same with unsharded tables, each on one rank",
     .overheads = "nvidia-pytorch",
     .cpu_runtime = "ipex",
     .sharding = ShardingRule::kInTurn,
     .cuda_graphs = true,
     .hierarchical = true,
     .build = BuildHugectr},
    {.name = "tensorflow",
     .help = "NVIDIA's TensorFlow DLRM, DCNv2, Wide & Deep and NCF",
     .overheads = "tensorflow",
     .cpu_runtime = "tensorflow",
     .sharding = ShardingRule::kTensorflow,
     .other_models = true,
     .build = BuildTensorflow},
    {.name = "tensorflow-xla",
     .help = "the same with pointwise ops fused by XLA",
     .overheads = "tensorflow",
     .cpu_runtime = "tensorflow",
     .sharding = ShardingRule::kTensorflow,
     .other_models = true,
     .build = BuildTensorflowXla},
    {.name = "tensorflow-native",
     .help = "the same without NVIDIA's kernels, as it runs on processors",
     .overheads = "tensorflow",
     .cpu_runtime = "tensorflow",
     .other_models = true,
     .build = BuildTensorflowNative},
    {.name = "tensorflow-columns",
     .help = "TensorFlow with feature columns, as DeepRec's model zoo",
     .overheads = "tensorflow",
     .cpu_runtime = "tensorflow",
     .other_models = true,
     .build = BuildTensorflowColumns},
    {.name = "triton",
     .help = "Triton server, TorchScript or ONNX, requests by gRPC",
     .overheads = "triton",
     .cpu_runtime = "torchscript",
     .build = BuildTriton},
    {.name = "triton-tensorrt",
     .help = "Triton server, TensorFlow lookups before a TensorRT engine",
     .overheads = "triton",
     .cpu_runtime = "torchscript",
     .build = BuildTritonTensorrt},
    {.name = "triton-hps",
     .help = "the same with Merlin HPS, a cache of rows on the GPU",
     .overheads = "triton",
     .cpu_runtime = "torchscript",
     .build = BuildTritonHps},
};

}  // namespace

std::span<const Implementation> Implementations() {
  return kImplementations;
}

const Implementation* DefaultImplementation() {
  return &kImplementations[0];
}

Result<const Implementation*> FindImplementation(std::string_view name) {
  const auto* const found =
      std::ranges::find(kImplementations, name, &Implementation::name);
  if (found != std::end(kImplementations)) {
    return found;
  }
  std::vector<std::string_view> names;
  for (const Implementation& implementation : kImplementations) {
    names.push_back(implementation.name);
  }
  return Fail(ErrorCode::kInvalidInput, Unknown("implementation", name, names));
}

}  // namespace stepcast::model
