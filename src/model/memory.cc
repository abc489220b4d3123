#include "model/memory.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include <fmt/format.h>

#include "ir/dtype.h"

namespace stepcast::model {
namespace {

constexpr double kHalfBytes = 2;

// What a CUDA context, cuBLAS's and cuDNN's workspaces and the loaded kernels
// of PyTorch hold: 0.5 to 1 GB from Volta to Hopper, as nvidia-smi shows for a
// process that has run one product.
constexpr double kContextBytes = 0.75e9;
// PyTorch's allocator rounds blocks up and keeps fragments it cannot merge. Its
// "reserved" exceeds "allocated" by some percent in training without growing
// shapes.
constexpr double kSlack = 0.05;

double Bytes(const ir::DType dtype, double elements) {
  return elements * static_cast<double>(ir::SizeOf(dtype));
}

double Product(std::initializer_list<int64_t> factors) {
  double product = 1;
  for (const int64_t factor : factors) {
    product *= static_cast<double>(factor);
  }
  return product;
}

// What an activity writes that somebody may read later.
struct WrittenBytes {
  double operator()(const ir::Gemm& shape) const {
    return Bytes(shape.dtype, Product({shape.batch, shape.m, shape.n}));
  }
  double operator()(const ir::EmbeddingBag& shape) const {
    const double rows = static_cast<double>(
        shape.pooled ? shape.batch * shape.tables : shape.lookups);
    return Bytes(shape.dtype, rows * static_cast<double>(shape.dim));
  }
  double operator()(const ir::Interaction& shape) const {
    const double pairs = Product({shape.features, shape.features - 1}) / 2;
    return Bytes(shape.dtype, static_cast<double>(shape.batch) *
                                  (pairs + static_cast<double>(shape.dim)));
  }
  double operator()(const ir::Elementwise& shape) const {
    return static_cast<double>(shape.written.count);
  }
  double operator()(const ir::Softmax& shape) const {
    return Bytes(shape.dtype, Product({shape.rows, shape.columns}));
  }
  double operator()(const ir::Normalization& shape) const {
    return Bytes(shape.dtype, Product({shape.rows, shape.columns}));
  }
  double operator()(const ir::Convolution& shape) const {
    const int64_t stride = std::max<int64_t>(shape.stride, 1);
    const int64_t height =
        (shape.height + 2 * shape.padding - shape.kernel_height) / stride + 1;
    const int64_t width =
        (shape.width + 2 * shape.padding - shape.kernel_width) / stride + 1;
    return Bytes(shape.dtype,
                 Product({shape.batch, shape.out_channels, height, width}));
  }
  double operator()(const ir::Pooling& shape) const {
    return Bytes(shape.dtype, static_cast<double>(shape.outputs));
  }
  double operator()(const ir::Attention& shape) const {
    return Bytes(shape.dtype,
                 Product({shape.batch, shape.heads, shape.queries, shape.dim}));
  }
  double operator()(const ir::Concat& shape) const {
    return Bytes(shape.dtype, static_cast<double>(shape.elements));
  }
  double operator()(const ir::Transpose& shape) const {
    return Bytes(shape.dtype, static_cast<double>(shape.elements));
  }
  double operator()(const ir::Index& shape) const {
    return Bytes(shape.dtype, static_cast<double>(shape.elements));
  }
  double operator()(const ir::Copy& shape) const {
    return shape.kind == ir::CopyKind::kHostToDevice
               ? static_cast<double>(shape.bytes.count)
               : 0;
  }
  template <typename Other>
  double operator()(const Other& /*shape*/) const {
    return 0;
  }
};

// Each activity of the forward pass, by what it writes.
std::vector<double> ForwardOutputs(const ir::GraphData& data) {
  std::vector<double> outputs;
  for (const ir::Activity& activity : data.activities) {
    if (!activity.call.valid() || !data.calls[activity.call].op.valid()) {
      continue;
    }
    const ir::Phase phase = data.ops[data.calls[activity.call].op].phase;
    if (phase == ir::Phase::kForward || phase == ir::Phase::kDataLoading) {
      outputs.push_back(
          std::visit(WrittenBytes(), data.shapes[activity.shape]));
    }
  }
  return outputs;
}

double ActivationBytes(const ir::GraphData& data, Mode mode) {
  std::vector<double> outputs = ForwardOutputs(data);
  if (mode == Mode::kInfer) {  // A layer's input and its output.
    std::ranges::sort(outputs, std::greater<>());
    outputs.resize(std::min<size_t>(outputs.size(), 2));
  }
  double sum = 0;
  for (const double output : outputs) {
    sum += output;
  }
  return sum;
}

// Weights and biases of a chain of layers.
double MlpParameters(int64_t inputs, const std::vector<int64_t>& widths) {
  double parameters = 0;
  for (const int64_t width : widths) {
    parameters += Product({inputs + 1, width});
    inputs = width;
  }
  return parameters;
}

double DenseParameters(const Model& model, const ir::GraphData& data) {
  double parameters = MlpParameters(model.dense_features, model.bottom_mlp);
  if (!model.top_mlp.empty()) {
    const int64_t width = InteractionWidth(model);
    parameters += MlpParameters(width, model.top_mlp);
    parameters += static_cast<double>(model.interaction.cross_layers) *
                  (2.0 * Product({width, model.interaction.cross_rank}) +
                   static_cast<double>(width));
  }
  if (parameters > 0) {
    return parameters;
  }
  for (const ir::Activity& activity : data.activities) {
    if (const auto* step =
            std::get_if<ir::OptimizerStep>(&data.shapes[activity.shape])) {
      parameters += static_cast<double>(step->elements);
    }
  }
  return parameters;
}

// Numbers of state for each parameter.
double StateOf(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::kSgd:
    case Optimizer::kRowwiseAdagrad:  // One a row, see TableState.
      return 0;
    case Optimizer::kAdagrad:
      return 1;
    case Optimizer::kAdam:
      return 2;
  }
  return 0;
}

bool HalfTables(const Settings& settings) {
  return settings.precision == Precision::kFp16 ||
         settings.precision == Precision::kBf16;
}

// Of the rows, and of their optimizer's state, that are in the GPU's memory.
struct DeviceShare {
  double rows = 1;
  double state = 1;
};

DeviceShare ShareOf(const TableGroup& group) {
  switch (group.placement) {
    case Placement::kHbm:
      return {};
    case Placement::kUvmCache:
      return {.rows = group.cache, .state = 0};
    case Placement::kHostCache:
      return {.rows = group.cache, .state = group.cache};
    case Placement::kUvm:
    case Placement::kHost:
    case Placement::kRemote:
      return {.rows = 0, .state = 0};
  }
  return {};
}

double WeightBytes(const TableGroup& group, const Settings& settings) {
  return Product({group.count, group.rows, group.dim}) *
         (HalfTables(settings) ? kHalfBytes : kFp32Bytes);
}

double StateBytes(const TableGroup& group, const Model& model,
                  const Settings& settings) {
  if (settings.mode == Mode::kInfer) {
    return 0;
  }
  const double numbers =
      model.table_optimizer == Optimizer::kRowwiseAdagrad
          ? Product({group.count, group.rows})
          : StateOf(model.table_optimizer) *
                Product({group.count, group.rows, group.dim});
  return numbers * kFp32Bytes;
}

// On the device, if it has all tables.
double TableWeights(const Model& model, const Settings& settings) {
  double bytes = 0;
  for (const TableGroup& group : model.tables) {
    bytes += ShareOf(group).rows * WeightBytes(group, settings);
  }
  return bytes;
}

double TableState(const Model& model, const Settings& settings) {
  double bytes = 0;
  for (const TableGroup& group : model.tables) {
    bytes += ShareOf(group).state * StateBytes(group, model, settings);
  }
  return bytes;
}

// Over all tables.
double HostBytes(const Model& model, const Settings& settings) {
  double bytes = 0;
  for (const TableGroup& group : model.tables) {
    bytes += model::HostBytes(group, model, settings);
  }
  return bytes;
}

}  // namespace

double HostBytes(const TableGroup& group, const Model& model,
                 const Settings& settings) {
  const bool on_host = group.placement != Placement::kHbm &&
                       group.placement != Placement::kRemote;
  return on_host
             ? WeightBytes(group, settings) + StateBytes(group, model, settings)
             : 0;
}

double Memory::total() const {
  double sum = 0;
  for (const MemoryPart& part : parts) {
    sum += part.bytes;
  }
  return sum;
}

double CommunicationBytes(const ir::Graph& graph) {
  double bytes = 0;
  for (const ir::ActivityId id : graph.data().activities.ids()) {
    if (const auto* part = std::get_if<ir::Collective>(&graph.shape(id))) {
      bytes += 2.0 * static_cast<double>(part->bytes.count);
    }
  }
  return bytes;
}

double TableBytes(const Model& model, const Settings& settings) {
  return TableWeights(model, settings) + TableState(model, settings);
}

std::vector<std::string> WaysToFit(const Memory& memory, double capacity,
                                   const Settings& settings,
                                   const TableJob& job) {
  const auto part = [&](std::string_view name) {
    const auto found = std::ranges::find(memory.parts, name, &MemoryPart::name);
    return found == memory.parts.end() ? 0 : found->bytes;
  };
  const double over = memory.total() - capacity;
  std::vector<std::string> ways;
  if (over <= 0) {
    return ways;
  }
  const double tables = part("tables") + part("table optimizer");
  const double rest = memory.total() - tables;
  if (tables > 0 && rest < capacity) {
    // As evenly as can be: tables are cut where a whole one is too much.
    const double gpus = std::ceil(job.bytes / (capacity - rest));
    ways.push_back(
        gpus > static_cast<double>(job.ranks)
            ? fmt::format("tables sharded over {:.0f} GPUs", gpus)
            : fmt::format("tables sharded evenly over the {} GPUs, as "
                          "`stepcast plan` does",
                          job.ranks));
    ways.push_back(fmt::format("{:.0f} % of the rows",
                               std::floor(100 * (1 - over / tables))));
  }
  if (!job.elsewhere) {
    // Its tables stay on the GPU.
  } else if (tables > 0 && rest + kUsualCache * part("tables") < capacity) {
    ways.emplace_back("a cache of the tables (--placement uvm-cache)");
  } else if (tables > 0 && rest < capacity) {
    ways.emplace_back("tables in host memory (--placement uvm)");
  }
  if (!HalfTables(settings) && part("tables") / 2 >= over) {
    ways.emplace_back("tables in FP16");
  }
  const double activations = part("activations") * (1 + kSlack);
  if (activations > over) {
    ways.push_back(fmt::format("a batch of {:.0f}",
                               std::floor(static_cast<double>(settings.batch) *
                                          (1 - over / activations))));
  }
  return ways;
}

Memory MemoryOf(const Model& model, const Settings& settings,
                const ir::Graph& graph, const TablePlace& place) {
  const bool train = settings.mode == Mode::kTrain;
  const double dense = DenseParameters(model, graph.data()) * kFp32Bytes;
  Memory memory;
  memory.host = HostBytes(model, settings);
  memory.parts = {
      {"tables", TableWeights(model, settings) * place.table_share},
      {"table optimizer", TableState(model, settings) * place.table_share},
      {"dense parameters", dense},
      {"dense gradients", train ? dense : 0},
      {"dense optimizer", train ? dense * StateOf(model.dense_optimizer) : 0},
      {"activations", ActivationBytes(graph.data(), settings.mode)},
      {"communication", place.communication},
      {"context", kContextBytes}};
  // Tables are few large blocks; the rest is cut and joined all the time.
  double cut = 0;
  for (const MemoryPart& part : memory.parts) {
    cut += part.name.starts_with("table") || part.name == "context"
               ? 0
               : part.bytes;
  }
  memory.parts.push_back({"slack", cut * kSlack});
  std::erase_if(memory.parts,
                [](const MemoryPart& part) { return part.bytes <= 0; });
  std::ranges::stable_sort(memory.parts, std::greater<>(), &MemoryPart::bytes);
  return memory;
}

}  // namespace stepcast::model
