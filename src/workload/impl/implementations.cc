#include "workload/impl/implementations.h"

namespace stepcast::workload {
namespace {

constexpr Implementation kImplementations[] = {
    {.name = "pytorch",
     .help = "eager PyTorch as facebookresearch/dlrm, table-batched embeddings",
     .other_models = true,
     .build = BuildPytorch},
    {.name = "pytorch-bags",
     .help = "the same with one nn.EmbeddingBag a table",
     .other_models = true,
     .build = BuildPytorchBags},
};

}  // namespace

std::span<const Implementation> Implementations() {
  return kImplementations;
}

}  // namespace stepcast::workload
