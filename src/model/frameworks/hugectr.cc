// DLRM like HugeCTR runs it: a C++ program that fuses what it can, in mixed
// precision with weights kept in both types.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "model/frameworks/exchange.h"
#include "model/frameworks/implementations.h"
#include "model/frameworks/torch/torch.h"
#include "model/shapes.h"
#include "model/tables/embedding_stats.h"

namespace stepcast::model {
namespace {

// HugeCTR's embeddings on one or several ranks: small tables or hot rows on
// every rank, others whole or split by rows, their vectors exchanged while the
// bottom MLP runs. Over several nodes what ranks of a node have of the same
// vectors is summed there first.

// The parts of a step that embeddings have, in the order they are called:
// LookUp, Receive, and to train SendGradients, Reduce, Update and
// FinishReduction.
class HugectrEmbedding {
 public:
  HugectrEmbedding(const Request& request, Torch& torch);

  /// Ids that this rank reads.
  int64_t ids() const;

  /// Looks up, and sends vectors to where their samples are.
  void LookUp();
  /// All vectors of this rank's samples.
  Tensor Receive();
  /// Gradients to where the tables are.
  void SendGradients();
  /// Sums over the ranks what all of them have: the gradients of dense
  /// parameters and of replicated tables.
  void Reduce(int64_t parameters);
  /// Updates the rows of this rank.
  void Update();
  /// Waits for what Reduce sums, and updates replicated tables.
  void FinishReduction();

 private:
  bool alone() const { return plan_.world == 1; }
  bool exchanges() const { return !alone() && portions_.all > 0; }
  bool over_nodes() const { return !plan_.node_columns.empty(); }
  int64_t parts() const;     // Tensors that an exchange is made of.
  int64_t received() const;  // Elements that this rank gets of all exchanges.
  int64_t hot_elements() const;  // Of replicated tables, to be summed.
  void Arrange();                // Between samples and what is exchanged.
  void ExchangeOverNodes(bool forward);
  void Kernel(const ir::KernelShape& shape);
  std::optional<ir::EmbeddingBag> Bag(const std::vector<TableGroup>& tables,
                                      int64_t batch) const;
  void Sum(int64_t elements, ir::DType dtype);

  const Model& model_;
  const Settings& settings_;
  const RankPlan& plan_;
  Torch& torch_;
  StepBuilder& step_;
  ir::StreamId collective_{};
  std::vector<TableGroup> owned_{};  // Whole, or some of their rows.
  Portions portions_{};              // Vectors.
};

// Vectors that a rank makes of its rows of split tables for `batch` samples. In
// a CUDA graph sizes are those of all bags, whether a rank has rows of them or
// not; of hot and other rows one has each id.
int64_t SplitElements(const RankPlan& plan, int64_t batch) {
  double columns = 0;
  for (const TableGroup& group : plan.split) {
    columns += static_cast<double>(group.count * group.dim) *
               (plan.hot_rows ? group.pooling : 1.0);
  }
  return std::llround(std::ceil(columns * static_cast<double>(batch)));
}

Portions VectorPortions(const Request& request) {
  const RankPlan& plan = request.plan;
  const int64_t batch = request.settings.batch;
  // Hot rows and those on nodes leave no table whole.
  const bool whole = !plan.hot_rows && plan.node_columns.empty();
  Portions portions = PortionsOf(
      plan, &RankLoad::columns, batch,
      {.own = ColumnsOf(plan.local),
       .all = whole ? EmbeddingWidth(request.model) -
                          ColumnsOf(plan.replicated) - ColumnsOf(plan.split)
                    : 0});
  // Alike on all ranks: ids are spread evenly.
  const int64_t split = SplitElements(plan, batch);
  portions.own += split;
  portions.all += split * plan.world;
  for (int64_t& portion : portions.by_rank) {
    portion += split;
  }
  return portions;
}

HugectrEmbedding::HugectrEmbedding(const Request& request, Torch& torch)
    : model_(request.model),
      settings_(request.settings),
      plan_(request.plan),
      torch_(torch),
      step_(torch.step()),
      collective_(request.plan.world > 1
                      ? torch.step().AddStream(kCollectiveStream)
                      : ir::StreamId{}),
      owned_(request.plan.local),
      portions_(VectorPortions(request)) {
  owned_.insert(owned_.end(), plan_.split.begin(), plan_.split.end());
  owned_.insert(owned_.end(), plan_.node_split.begin(), plan_.node_split.end());
}

void HugectrEmbedding::Kernel(const ir::KernelShape& shape) {
  const OpScope scope(step_, "Embedding");
  step_.Launch(shape);
}

std::optional<ir::EmbeddingBag> HugectrEmbedding::Bag(
    const std::vector<TableGroup>& tables, int64_t batch) const {
  if (tables.empty()) {
    return std::nullopt;
  }
  ir::EmbeddingBag bag =
      Lookup(tables, {.batch = batch,
                      .dtype = torch_.options().types.parameter,
                      .index_dtype = ir::DType::kInt32,
                      .alpha = CommonAlpha(tables, batch, settings_.seed)});
  if (plan_.hot_rows) {
    // A list of rows to gather: samples have theirs in one of two lists.
    bag.batch = std::max<int64_t>(bag.lookups, 1);
    bag.tables = 1;
    bag.pooled = false;
    bag.longest_bag = 0;
    bag.max_dim = 0;
    bag.table_rows.clear();
    bag.table_dims.clear();
    bag.table_lookups.clear();
  }
  return bag;
}

// Of split tables, every rank has something for every other one.
int64_t HugectrEmbedding::parts() const {
  return plan_.split.empty() ? std::ssize(PartsOf(plan_, portions_))
                             : plan_.world;
}

int64_t HugectrEmbedding::ids() const {
  return LookupsOf(owned_, settings_.batch * plan_.world) +
         LookupsOf(plan_.replicated, settings_.batch);
}

int64_t HugectrEmbedding::received() const {
  return portions_.all +
         settings_.batch * std::accumulate(plan_.node_columns.begin(),
                                           plan_.node_columns.end(),
                                           int64_t{0});
}

// Every rank of a node has a part of each of the node's vectors, of samples of
// all ranks. Summed, each keeps those of the ranks that have its place on their
// nodes, and sends them there.
void HugectrEmbedding::ExchangeOverNodes(bool forward) {
  const int64_t on_node = plan_.world / plan_.nodes;
  const ir::DType dtype = torch_.options().types.activation;
  const int64_t place_elements =
      settings_.batch * plan_.nodes *
      std::max<int64_t>(ColumnsOf(plan_.node_split), 1);
  ir::Collective within = Collect(
      forward ? ir::CollectiveKind::kReduceScatter
              : ir::CollectiveKind::kAllGather,
      plan_, forward ? place_elements * on_node : place_elements, dtype);
  within.group_size = on_node;
  ir::Collective across =
      Collect(ir::CollectiveKind::kAllToAll, plan_, place_elements, dtype);
  across.group_size = plan_.nodes;
  const OpScope scope(step_, "AllToAll");
  if (forward && on_node > 1) {
    step_.Collect(within, collective_);
  }
  step_.Collect(across, collective_);
  if (!forward && on_node > 1) {
    step_.Collect(within, collective_);
  }
}

void HugectrEmbedding::LookUp() {
  if (const auto bag = Bag(owned_, settings_.batch * plan_.world)) {
    Kernel(*bag);
  }
  if (over_nodes()) {
    ExchangeOverNodes(/*forward=*/true);
  }
  if (exchanges()) {
    const OpScope scope(step_, "AllToAll");
    step_.Collect(
        ToSamples(plan_, portions_, torch_.options().types.activation),
        collective_);
  }
  if (const auto bag = Bag(plan_.replicated, settings_.batch)) {
    Kernel(*bag);
  }
}

void HugectrEmbedding::Arrange() {
  Kernel(ir::Concat{.tensors = std::max(parts(), plan_.nodes),
                    .elements = received(),
                    .dtype = torch_.options().types.activation});
}

Tensor HugectrEmbedding::Receive() {
  if (exchanges() || over_nodes()) {
    // What came of each rank, in the order of the features; parts of split
    // bags are added up.
    step_.WaitForStream(collective_);
    Arrange();
  }
  return {.rows = settings_.batch,
          .columns = EmbeddingWidth(model_),
          .dtype = torch_.options().types.activation,
          .grad = torch_.options().train};
}

void HugectrEmbedding::SendGradients() {
  if (!exchanges() && !over_nodes()) {
    return;
  }
  Arrange();
  if (over_nodes()) {
    ExchangeOverNodes(/*forward=*/false);
  }
  if (exchanges()) {
    const OpScope scope(step_, "AllToAll");
    step_.Collect(ToTables(plan_, portions_, torch_.options().types.activation),
                  collective_);
  }
}

// On one node only the hot rows of a batch are summed, by links that all have
// to all; over several nodes all of them.
int64_t HugectrEmbedding::hot_elements() const {
  if (!plan_.hot_rows || plan_.nodes > 1) {
    return ElementsOf(plan_.replicated);
  }
  double elements = 0;
  for (const TableGroup& group : plan_.replicated) {
    const EmbeddingStats stats(group.ids, group.rows, settings_.seed);
    elements +=
        static_cast<double>(group.count * group.dim) *
        stats.UniqueRows(group.pooling * static_cast<double>(settings_.batch));
  }
  return std::llround(std::ceil(elements));
}

void HugectrEmbedding::Sum(int64_t elements, ir::DType dtype) {
  const OpScope scope(step_, "AllReduce");
  step_.Collect(Collect(ir::CollectiveKind::kAllReduce, plan_, elements, dtype),
                collective_);
}

void HugectrEmbedding::Reduce(int64_t parameters) {
  if (alone()) {
    return;
  }
  const Types& types = torch_.options().types;
  if (auto bag = Bag(plan_.replicated, settings_.batch)) {
    // A gradient of all rows, to be summed.
    Kernel(Zeros(ElementsOf(plan_.replicated), types.parameter));
    bag->pass = ir::Pass::kBackward;
    Kernel(*bag);
  }
  // Rows are updated once their gradients have arrived, during the sums.
  step_.WaitForStream(collective_);
  // All in one, in the products' type.
  Sum(parameters + hot_elements(), types.activation);
}

void HugectrEmbedding::Update() {
  if (auto bag = Bag(owned_, settings_.batch * plan_.world)) {
    bag->pass = ir::Pass::kBackward;
    bag->update = UpdateOf(model_.table_optimizer);
    Kernel(*bag);
  }
}

void HugectrEmbedding::FinishReduction() {
  if (alone()) {
    return;
  }
  step_.WaitForStream(collective_);
  if (!plan_.replicated.empty()) {
    Kernel(ir::OptimizerStep{.update = UpdateOf(model_.table_optimizer),
                             .tensors = TablesOf(plan_.replicated),
                             .elements = ElementsOf(plan_.replicated),
                             .dtype = torch_.options().types.parameter});
  }
}

// Weights are kept in the products' type; the optimizer writes both.
Types MasterTypes(Precision precision) {
  Types types = TypesOf(precision);
  types.cast = false;
  return types;
}

class HugectrDlrm {
 public:
  HugectrDlrm(const Request& request, StepBuilder& step)
      : model_(request.model),
        settings_(request.settings),
        step_(step),
        torch_(step, {.release = TorchRelease::kTorch111,
                      .types = MasterTypes(request.settings.precision),
                      .train = request.settings.mode == Mode::kTrain,
                      .optimizer = request.model.dense_optimizer,
                      .form = OptimizerForm::kFused}),
        batch_(request.settings.batch),
        embedding_(request, torch_) {}

  void Run() {
    const CudaGraphs graphs = settings_.cuda_graphs;
    CopyNextBatch();
    if (graphs != CudaGraphs::kOff) {
      step_.BeginCapture();
    }
    const Tensor logits = Predict();
    if (!torch_.options().train) {
      step_.EndCapture();
      step_.SyncDevice();
      return;
    }
    Loss(logits);
    if (graphs == CudaGraphs::kForward) {
      step_.EndCapture();
    }
    // One thread does it all.
    step_.SetPhase(ir::Phase::kBackward);
    for (auto node = backward_.rbegin(); node != backward_.rend(); ++node) {
      (*node)();
    }
    step_.SetPhase(ir::Phase::kOptimizer);
    if (graphs == CudaGraphs::kForwardBackward) {
      step_.EndCapture();
    }
    embedding_.FinishReduction();
    torch_.OptimizerStep();
    step_.EndCapture();
  }

 private:
  void Kernel(std::string_view op, const ir::KernelShape& shape) {
    const OpScope scope(step_, op);
    step_.Launch(shape);
  }
  void Keep(std::function<void()> node) {
    if (torch_.options().train) {
      backward_.push_back(std::move(node));
    }
  }

  // The reader copies while the step runs.
  void CopyNextBatch() {
    const bool overlapped = settings_.loader_overlap.value_or(true);
    if (overlapped) {
      step_.UseStream(step_.AddStream(StepBuilder::kCopyStream));
    }
    for (const int64_t bytes :
         {batch_ * (model_.dense_features + 1) * ir::SizeOf(ir::DType::kFp32),
          embedding_.ids() * ir::SizeOf(ir::DType::kInt32)}) {
      const OpScope op(step_, "DataReader");
      step_.CopyToDevice(bytes, settings_.pinned, /*waits=*/!overlapped);
    }
    step_.UseStream(step_.compute_stream());
  }

  Tensor Mlp(const Tensor& x, std::span<const int64_t> widths) {
    const Types& types = torch_.options().types;
    Tensor y = x;
    for (const int64_t out : widths) {
      const Tensor input = y;
      Kernel("MLPLayer", Forward(y.rows, y.columns, out, types.product));
      torch_.AddParameter(y.columns * out);
      torch_.AddParameter(out);
      parameters_ += y.columns * out + out;
      Keep([this, input, out] {
        const ir::DType dtype = torch_.options().types.product;
        const OpScope scope(step_, "MLPLayer");
        if (input.grad) {
          step_.Launch(DataGradient(input.rows, input.columns, out, dtype));
        }
        step_.Launch(WeightGradient(input.rows, input.columns, out, dtype));
      });
      y = {.rows = y.rows,
           .columns = out,
           .dtype = types.activation,
           .grad = torch_.options().train};
    }
    return y;
  }

  Tensor Interact(const Tensor& bottom, const Tensor& vectors) {
    const Types& types = torch_.options().types;
    Tensor result{.rows = batch_,
                  .columns = InteractionWidth(model_),
                  .dtype = types.activation,
                  .grad = torch_.options().train};
    if (model_.interaction.kind == InteractionKind::kDot) {
      const ir::Interaction dot{
          .batch = batch_,
          .features = TableCount(model_) + (bottom.columns > 0 ? 1 : 0),
          .dim = model_.tables.front().dim,
          .dtype = types.product};
      Kernel("Interaction", dot);
      Keep([this, dot] {
        ir::Interaction backward = dot;
        backward.pass = ir::Pass::kBackward;
        Kernel("Interaction", backward);
      });
      result.columns = PaddedTo(result.columns, kRowPadding);
      return result;
    }
    const ir::Concat parts{.tensors = 2,
                           .elements = bottom.elements() + vectors.elements(),
                           .dtype = types.activation};
    Kernel("Concat", parts);
    Keep([this, parts] { Kernel("Concat", parts); });
    for (int64_t i = 0; i < model_.interaction.cross_layers; ++i) {
      Cross(result);
    }
    return result;
  }

  // x0 * (U (V x) + b) + x: two products, then all the rest in one kernel.
  void Cross(const Tensor& x) {
    const std::vector<int64_t> widths = {model_.interaction.cross_rank,
                                         x.columns};
    Mlp(x, widths);
    Kernel("MultiCross", Stream(x.elements(), 3, x.dtype));
    Keep([this, x] {
      Kernel("MultiCross", Stream(2 * x.elements(), 2, x.dtype));
    });
  }

  Tensor Predict() {
    const Tensor dense{.rows = batch_,
                       .columns = model_.dense_features,
                       .dtype = torch_.options().types.activation};
    embedding_.LookUp();
    Keep([this] { embedding_.Update(); });
    // After the last gradient of the MLPs, which rows need not wait for.
    Keep([this] { embedding_.Reduce(parameters_); });
    const Tensor bottom = Mlp(dense, model_.bottom_mlp);
    const Tensor vectors = embedding_.Receive();
    Keep([this] { embedding_.SendGradients(); });
    return Mlp(Interact(bottom, vectors), model_.top_mlp);
  }

  void Loss(const Tensor& logits) {
    Kernel("BinaryCrossEntropyLoss",
           Stream(logits.elements(), 2, ir::DType::kFp32,
                  ir::Arithmetic::kTranscendental));
  }

  const Model& model_;
  const Settings& settings_;
  StepBuilder& step_;
  Torch torch_;
  int64_t batch_ = 0;
  int64_t parameters_ = 0;  // Numbers of the MLPs.
  HugectrEmbedding embedding_;
  std::vector<std::function<void()>> backward_;
};

}  // namespace

Result<ir::Graph> BuildHugectr(const Request& request) {
  StepBuilder step("model");
  HugectrDlrm(request, step).Run();
  return std::move(step).Finish();
}

}  // namespace stepcast::model
