// Recommenders after NVIDIA's Triton inference server: a client's request, its
// way to the GPU, the model, and the answer's way back.
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/frameworks/implementations.h"
#include "model/frameworks/torch/torch.h"
#include "model/networks/interaction.h"
#include "model/shapes.h"
#include "model/tables/embedding_stats.h"

namespace stepcast::model {
namespace {

// How often the host copies a byte of a request that comes by gRPC: from the
// client's arrays into a message, through the sockets of both sides, out of the
// message and into the buffer that the GPU reads. By hand, from requests of 4
// MB and more to NVIDIA's PyTorch DLRM export; none was kept back to judge it.
constexpr int64_t kGrpcCopies = 10;

// What serves the lookups of an ensemble.
enum class Sparse {
  kTensorflow,  // A SavedModel, whose result crosses PCIe.
  kHps,         // Merlin HPS: a cache of rows on the GPU.
};

class TritonModel {
 public:
  TritonModel(const Request& request, StepBuilder& step)
      : model_(request.model),
        step_(step),
        torch_(step, {.release = request.settings.torch.value_or(
                          TorchRelease::kTorch111),
                      .types = TypesOf(request.settings.precision),
                      .train = false}),
        batch_(request.settings.batch),
        lookups_{.batch = batch_,
                 .dtype = torch_.options().types.parameter,
                 .kernel = ir::BagKernel::kPerTable,
                 .alpha = CommonAlpha(request.model.tables, batch_,
                                      request.settings.seed)} {}

  /// TorchScript or ONNX: the native ops of the model in one request.
  void RunScript() {
    step_.Op("triton::Request");
    Receive(kGrpcCopies, ir::SizeOf(ir::DType::kInt64));
    std::vector<Tensor> vectors;
    for (const TableGroup& group : model_.tables) {
      TableGroup single = group;
      single.count = 1;
      ir::EmbeddingBag bag = Lookup({&single, 1}, lookups_);
      bag.pooled = false;
      bag.longest_bag = 0;
      for (int64_t i = 0; i < group.count; ++i) {
        const OpScope op(step_, "aten::embedding");
        step_.Launch(bag);
        vectors.push_back(
            {.rows = batch_, .columns = group.dim, .dtype = lookups_.dtype});
      }
    }
    const Tensor bottom =
        torch_.Mlp(DenseFeatures(), model_.bottom_mlp, /*last_relu=*/true);
    const Tensor x =
        Interact(torch_, model_, bottom, vectors, Triangle::kSelected);
    torch_.Mlp(x, model_.top_mlp, /*last_relu=*/false);
    Answer();
  }

  /// Lookups and a TensorRT engine, one after the other.
  void RunEnsemble(Sparse sparse) {
    step_.Op("triton::Request");
    Receive(/*copies=*/1, ir::SizeOf(ir::DType::kInt32));
    LookUp(sparse);
    // The result of one model becomes the input of the next: Triton copies it
    // out of the first one's buffer and into the second one's.
    for (const char* name : {"triton::Output", "triton::Input"}) {
      const OpScope op(step_, name);
      step_.CopyOnDevice(VectorBytes());
    }
    step_.BeginCapture();
    Engine();
    step_.EndCapture();
    Answer();
  }

 private:
  int64_t VectorBytes() const {
    return batch_ * EmbeddingWidth(model_) * ir::SizeOf(ir::DType::kFp32);
  }

  Tensor DenseFeatures() const {
    return {.rows = batch_,
            .columns = model_.dense_features,
            .dtype = torch_.options().types.parameter};
  }

  // Dense features and ids on their way to the GPU.
  void Receive(int64_t copies, int64_t id_bytes) {
    const int64_t dense =
        batch_ * model_.dense_features * ir::SizeOf(ir::DType::kFp32);
    const int64_t ids = LookupsOf(model_.tables, batch_) * id_bytes;
    for (const int64_t bytes : {dense, ids}) {
      const OpScope op(step_, "triton::Input");
      step_.CopyToDevice(bytes * copies, /*pinned=*/false, /*waits=*/true);
    }
  }

  void LookUp(Sparse sparse) {
    for (const TableGroup& group : model_.tables) {
      TableGroup single = group;
      single.count = 1;
      LookupOptions how = lookups_;
      how.dtype = ir::DType::kFp32;
      ir::EmbeddingBag bag = Lookup({&single, 1}, how);
      bag.pooled = false;
      bag.longest_bag = 0;
      for (int64_t i = 0; i < group.count; ++i) {
        if (sparse == Sparse::kTensorflow) {
          const OpScope op(step_, "tf::ResourceGather");
          step_.Launch(bag);
          continue;
        }
        const OpScope op(step_, "hps::Lookup");
        // Which slot of the cache has the row, then the row itself.
        step_.Launch(ir::Index{.elements = bag.lookups,
                               .source = single.rows,
                               .slice = 1,
                               .dtype = ir::DType::kInt64});
        step_.Launch(bag);
      }
    }
    const OpScope op(
        step_, sparse == Sparse::kTensorflow ? "tf::ConcatV2" : "hps::Lookup");
    step_.Launch(ir::Concat{.tensors = TableCount(model_),
                            .elements = batch_ * EmbeddingWidth(model_),
                            .dtype = ir::DType::kFp32});
    if (sparse == Sparse::kTensorflow) {
      step_.CopyToDevice(VectorBytes(), /*pinned=*/true, /*waits=*/true);
    }
  }

  // Products with bias and ReLU inside.
  int64_t Layers(int64_t columns, std::span<const int64_t> widths) {
    const ir::DType dtype = torch_.options().types.product;
    for (const int64_t width : widths) {
      step_.Launch(Forward(batch_, columns, width, dtype));
      columns = width;
    }
    return columns;
  }

  void Engine() {
    const Types& types = torch_.options().types;
    const int64_t vectors = TableCount(model_) + 1;
    const int64_t dim = model_.tables.front().dim;
    const int64_t width = vectors * dim;
    Layers(model_.dense_features, model_.bottom_mlp);
    // Vectors in the engine's type, next to the dense one.
    step_.Launch(Cast(batch_ * width, ir::DType::kFp32, types.activation));
    if (model_.interaction.kind == InteractionKind::kDot) {
      step_.Launch(ir::Gemm{.batch = batch_,
                            .m = vectors,
                            .n = vectors,
                            .k = dim,
                            .transpose_b = true,
                            .dtype = types.product});
      const int64_t pairs = vectors * (vectors - 1) / 2;
      step_.Launch(ir::Index{.elements = batch_ * pairs,
                             .source = batch_ * vectors * vectors,
                             .slice = 1,
                             .dtype = types.activation});
      const int64_t columns = PaddedTo(pairs + dim, kRowPadding);
      step_.Launch(ir::Concat{.tensors = 2,
                              .elements = batch_ * columns,
                              .dtype = types.activation});
      Layers(columns, model_.top_mlp);
      return;
    }
    for (int64_t i = 0; i < model_.interaction.cross_layers; ++i) {
      const int64_t low[] = {model_.interaction.cross_rank, width};
      Layers(width, low);
      step_.Launch(Stream(batch_ * width, 3, types.activation));
    }
    Layers(width, model_.top_mlp);
  }

  void Answer() {
    const OpScope op(step_, "triton::Answer");
    step_.CopyToHost(batch_ * ir::SizeOf(ir::DType::kFp32));
  }

  const Model& model_;
  StepBuilder& step_;
  Torch torch_;
  int64_t batch_ = 0;
  LookupOptions lookups_;
};

Status CheckMode(const Request& request) {
  if (request.settings.mode != Mode::kInfer) {
    return Fail(ErrorCode::kUnsupported,
                "Triton serves models and trains none; expected mode infer");
  }
  return {};
}

Result<ir::Graph> BuildEnsemble(const Request& request, Sparse sparse) {
  RETURN_IF_ERROR(CheckMode(request));
  StepBuilder step("model");
  TritonModel(request, step).RunEnsemble(sparse);
  return std::move(step).Finish();
}

}  // namespace

Result<ir::Graph> BuildTriton(const Request& request) {
  RETURN_IF_ERROR(CheckMode(request));
  StepBuilder step("model");
  TritonModel(request, step).RunScript();
  return std::move(step).Finish();
}

Result<ir::Graph> BuildTritonTensorrt(const Request& request) {
  return BuildEnsemble(request, Sparse::kTensorflow);
}

Result<ir::Graph> BuildTritonHps(const Request& request) {
  return BuildEnsemble(request, Sparse::kHps);
}

}  // namespace stepcast::model
