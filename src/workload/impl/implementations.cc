#include "workload/impl/implementations.h"

namespace stepcast::workload {
namespace {

constexpr Implementation kImplementations[] = {
    {.name = "pytorch",
     .help = "eager PyTorch as facebookresearch/dlrm, table-batched embeddings",
     .other_models = true,
     .many_ranks = true,
     .placements = true,
     .cuda_graphs = true,
     .build = BuildPytorch},
    {.name = "pytorch-bags",
     .help = "the same with one nn.EmbeddingBag a table",
     .other_models = true,
     .many_ranks = true,
     .cuda_graphs = true,
     .build = BuildPytorchBags},
    {.name = "torchrec",
     .help = "TorchRec: FBGEMM tables, DDP, sparse-distribution pipeline",
     .many_ranks = true,
     .placements = true,
     .build = BuildTorchrec},
    {.name = "nvidia",
     .help = "NVIDIA's PyTorch DLRM: fused gather, interaction and MLPs",
     .many_ranks = true,
     .cuda_graphs = true,
     .build = BuildNvidia},
    {.name = "hugectr",
     .help = "HugeCTR-like: everything fused, one CUDA graph a step",
     .many_ranks = true,
     .cuda_graphs = true,
     .staged = true,
     .build = BuildHugectr},
    {.name = "hugectr-localized",
     .help = "the same with every table whole on one rank",
     .many_ranks = true,
     .cuda_graphs = true,
     .staged = true,
     .build = BuildHugectr},
    {.name = "tensorflow",
     .help = "NVIDIA's TensorFlow DLRM, DCNv2, Wide & Deep and NCF",
     .other_models = true,
     .many_ranks = true,
     .build = BuildTensorflow},
    {.name = "tensorflow-xla",
     .help = "the same with pointwise ops fused by XLA",
     .other_models = true,
     .many_ranks = true,
     .build = BuildTensorflowXla},
    {.name = "tensorflow-native",
     .help = "the same without NVIDIA's kernels, as it runs on processors",
     .other_models = true,
     .build = BuildTensorflowNative},
    {.name = "tensorflow-columns",
     .help = "TensorFlow with feature columns, as DeepRec's model zoo",
     .other_models = true,
     .build = BuildTensorflowColumns},
    {.name = "triton",
     .help = "Triton server, TorchScript or ONNX, requests by gRPC",
     .build = BuildTriton},
    {.name = "triton-tensorrt",
     .help = "Triton server, TensorFlow lookups before a TensorRT engine",
     .build = BuildTritonTensorrt},
    {.name = "triton-hps",
     .help = "the same with Merlin HPS, a cache of rows on the GPU",
     .build = BuildTritonHps},
};

}  // namespace

std::span<const Implementation> Implementations() {
  return kImplementations;
}

}  // namespace stepcast::workload
