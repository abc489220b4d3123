#include "workload/read_model.h"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/nearest.h"
#include "base/toml_read.h"
#include "workload/model_keys.h"
#include "workload/read_tables.h"

namespace stepcast::workload {
namespace {

// Far above any model, and far below where products of them would overflow.
constexpr int64_t kMostWidth = 1'000'000;
constexpr int64_t kMostLayers = 1'000;
constexpr int64_t kMostSequence = 1'000'000;
constexpr int64_t kMostVocabulary = 100'000'000;
constexpr int64_t kMostImage = 4'096;

constexpr std::string_view kKeys[] = {"name",
                                      "source",
                                      "kind",
                                      "batch",
                                      "dense_features",
                                      "embedding_dim",
                                      "table_rows",
                                      "pooling",
                                      "ids",
                                      "alpha",
                                      "histogram",
                                      "ids_file",
                                      "tables",
                                      "bottom_mlp",
                                      "top_mlp",
                                      "top_input",
                                      "top_padding",
                                      "interaction",
                                      "cross_layers",
                                      "cross_rank",
                                      "loss",
                                      "dropout",
                                      "optimizer",
                                      "dense_optimizer",
                                      "table_optimizer",
                                      "optimizer_form",
                                      "image_size",
                                      "classes",
                                      "transformer"};
constexpr std::string_view kTransformerKeys[] = {
    "layers",     "hidden",   "heads",   "feed_forward",
    "vocabulary", "sequence", "classes", "pre_norm"};

constexpr ModelKind kKinds[] = {ModelKind::kDlrm,       ModelKind::kWideDeep,
                                ModelKind::kNcf,        ModelKind::kDeepFm,
                                ModelKind::kResNet50,   ModelKind::kInceptionV3,
                                ModelKind::kTransformer};
constexpr InteractionKind kInteractions[] = {
    InteractionKind::kDot, InteractionKind::kCat, InteractionKind::kDcnV2};
constexpr Loss kLosses[] = {Loss::kBce, Loss::kMse};
constexpr Optimizer kOptimizers[] = {Optimizer::kSgd, Optimizer::kAdagrad,
                                     Optimizer::kRowwiseAdagrad,
                                     Optimizer::kAdam};
constexpr OptimizerForm kForms[] = {
    OptimizerForm::kPerTensor, OptimizerForm::kForeach, OptimizerForm::kFused};

// TorchRec's words for interactions.
std::string_view OurWord(std::string_view word) {
  if (word == "original") {
    return "dot";
  }
  return word == "dcn" ? "dcnv2" : word;
}

// The one of `values` that the key names; left out: `otherwise`.
template <typename Value>
Result<Value> Choice(const ModelKeys& keys, std::string_view key,
                     std::span<const Value> values, Value otherwise) {
  ASSIGN_OR_RETURN(const std::string text, keys.Text(key, Name(otherwise)));
  std::vector<std::string_view> names;
  for (const Value value : values) {
    if (Name(value) == OurWord(text)) {
      return value;
    }
    names.push_back(Name(value));
  }
  return FailAt(*keys.Find(key), Unknown(keys.WordFor(key), text, names));
}

Status ReadDense(const ModelKeys& keys, Model& model) {
  ASSIGN_OR_RETURN(model.dense_features,
                   keys.Whole("dense_features", 0, 0, kMostWidth));
  ASSIGN_OR_RETURN(model.bottom_mlp, keys.Wholes("bottom_mlp", 1, kMostWidth));
  ASSIGN_OR_RETURN(model.top_mlp, keys.Wholes("top_mlp", 1, kMostWidth));
  std::string word(keys.WordFor("bottom_mlp"));
  std::ranges::replace(word, '-', '_');
  if (word.ends_with(kBottomWithInput) && !model.bottom_mlp.empty()) {
    const int64_t input = model.bottom_mlp.front();
    if (model.dense_features != 0 && model.dense_features != input) {
      return FailAt(
          *keys.Find("bottom_mlp"),
          fmt::format("{} starts with {}; expected the {} "
                      "dense_features",
                      keys.WordFor("bottom_mlp"), input, model.dense_features));
    }
    model.dense_features = input;
    model.bottom_mlp.erase(model.bottom_mlp.begin());
  }
  if (!model.bottom_mlp.empty() && model.dense_features == 0) {
    return FailAt(*keys.Find("bottom_mlp"),
                  "dense_features is missing; expected how many numbers the "
                  "bottom MLP reads");
  }
  return {};
}

Status ReadInteraction(const ModelKeys& keys, Model& model) {
  Interaction& interaction = model.interaction;
  ASSIGN_OR_RETURN(interaction.kind,
                   Choice<InteractionKind>(keys, "interaction", kInteractions,
                                           InteractionKind::kDot));
  ASSIGN_OR_RETURN(interaction.cross_layers,
                   keys.Whole("cross_layers", 0, 1, kMostLayers));
  ASSIGN_OR_RETURN(interaction.cross_rank,
                   keys.Whole("cross_rank", 0, 1, kMostWidth));
  ASSIGN_OR_RETURN(interaction.padding,
                   keys.Whole("top_padding", 1, 1, kMostWidth));
  if (interaction.kind == InteractionKind::kDcnV2 &&
      (interaction.cross_layers == 0 || interaction.cross_rank == 0)) {
    return FailAt(*keys.Find("interaction"),
                  "interaction dcnv2 without cross_layers and cross_rank; "
                  "expected both");
  }
  return {};
}

// Where the first of the tables says that it has other columns.
const toml::node& OtherDim(const toml::node& tables, int64_t dim) {
  if (const toml::array* const list = tables.as_array()) {
    for (const toml::node& item : *list) {
      const toml::node* const own =
          item.is_table() ? item.as_table()->get("dim") : nullptr;
      if (own != nullptr && own->value<int64_t>() != dim) {
        return *own;
      }
    }
  }
  return tables;
}

// Dot products need vectors of one length: the dense one and all tables'.
Status CheckDims(const ModelKeys& keys, const Model& model) {
  const int64_t dim = model.tables.front().dim;
  for (const TableGroup& group : model.tables) {
    if (group.dim != dim) {
      return FailAt(OtherDim(*keys.Find("tables"), dim),
                    fmt::format("tables have {} and {} columns; expected one "
                                "dim for a dot interaction",
                                dim, group.dim));
    }
  }
  const int64_t dense =
      model.bottom_mlp.empty() ? model.dense_features : model.bottom_mlp.back();
  if (dense != 0 && dense != dim) {
    // A bottom MLP of one number says how many dense features there are.
    const char* const key =
        model.bottom_mlp.empty() && keys.Find("dense_features") != nullptr
            ? "dense_features"
            : "bottom_mlp";
    return FailAt(*keys.Find(key),
                  fmt::format("{} ends with {}; expected {}, the columns of "
                              "the tables, for a dot interaction",
                              keys.WordFor(key), dense, dim));
  }
  if (TableCount(model) + (dense > 0 ? 1 : 0) < 2) {
    return FailAt(keys.table(),
                  "one table and no dense features; expected two "
                  "vectors or more for a dot interaction");
  }
  return {};
}

Status CheckRecommender(const ModelKeys& keys, const Model& model) {
  if (model.tables.empty()) {
    return FailAt(keys.table(),
                  "the model has no tables; expected [[tables]] "
                  "or table_rows");
  }
  if (model.top_mlp.empty()) {
    return FailAt(keys.table(),
                  "top_mlp is missing; expected the widths "
                  "behind the interaction, as in [1024, 1]");
  }
  const bool adds_linear_model =
      model.kind == ModelKind::kWideDeep || model.kind == ModelKind::kDeepFm;
  if (adds_linear_model && model.top_mlp.back() != 1) {
    return FailAt(
        *keys.Find("top_mlp"),
        fmt::format("{} ends with {}; expected 1, to be added to the linear "
                    "model's",
                    keys.WordFor("top_mlp"), model.top_mlp.back()));
  }
  if (model.kind == ModelKind::kNcf) {
    const bool four = TableCount(model) == 4;
    return four ? Status()
                : FailAt(keys.table(),
                         fmt::format("an ncf model has {} tables; expected 4: "
                                     "users and items to multiply, users and "
                                     "items for the MLP",
                                     TableCount(model)));
  }
  if (model.kind == ModelKind::kDlrm &&
      model.interaction.kind == InteractionKind::kDot) {
    RETURN_IF_ERROR(CheckDims(keys, model));
  }
  ASSIGN_OR_RETURN(const int64_t top_input,
                   keys.Whole("top_input", 0, 1, kMostWidth));
  if (top_input != 0 && top_input != InteractionWidth(model)) {
    return FailAt(
        *keys.Find("top_input"),
        fmt::format("the top MLP reads {} numbers; expected {}, what "
                    "the interaction makes of {} vectors",
                    top_input, InteractionWidth(model),
                    TableCount(model) + (model.dense_features > 0 ? 1 : 0)));
  }
  return {};
}

Status ReadTransformer(const ModelKeys& keys, Model& model) {
  const toml::node* const node = keys.Find("transformer");
  if (node == nullptr || !node->is_table()) {
    return FailAt(keys.table(),
                  "a transformer without a [transformer] "
                  "section; expected one");
  }
  ASSIGN_OR_RETURN(const ModelKeys own,
                   ModelKeys::Make(*node->as_table(), kTransformerKeys));
  Transformer& net = model.transformer;
  ASSIGN_OR_RETURN(net.layers, own.Whole("layers", 0, 1, kMostLayers));
  ASSIGN_OR_RETURN(net.hidden, own.Whole("hidden", 0, 1, kMostWidth));
  ASSIGN_OR_RETURN(net.heads, own.Whole("heads", 0, 1, kMostWidth));
  ASSIGN_OR_RETURN(net.feed_forward,
                   own.Whole("feed_forward", 4 * net.hidden, 1, kMostWidth));
  ASSIGN_OR_RETURN(net.vocabulary,
                   own.Whole("vocabulary", 0, 1, kMostVocabulary));
  ASSIGN_OR_RETURN(net.sequence, own.Whole("sequence", 0, 1, kMostSequence));
  ASSIGN_OR_RETURN(net.classes, own.Whole("classes", 0, 1, kMostWidth));
  ASSIGN_OR_RETURN(net.pre_norm, own.Flag("pre_norm"));
  for (const std::string_view key :
       {"layers", "hidden", "heads", "vocabulary", "sequence"}) {
    if (own.Find(key) == nullptr) {
      return FailAt(*node,
                    fmt::format("{} is missing; expected a number", key));
    }
  }
  if (net.hidden % net.heads != 0) {
    return FailAt(*own.Find("heads"),
                  fmt::format("heads is {}; expected a divisor of hidden, {}",
                              net.heads, net.hidden));
  }
  return {};
}

Status ReadOptimizers(const ModelKeys& keys, Model& model) {
  ASSIGN_OR_RETURN(
      const Optimizer both,
      Choice<Optimizer>(keys, "optimizer", kOptimizers, Optimizer::kSgd));
  ASSIGN_OR_RETURN(
      model.dense_optimizer,
      Choice<Optimizer>(
          keys, "dense_optimizer", kOptimizers,
          both == Optimizer::kRowwiseAdagrad ? Optimizer::kAdagrad : both));
  if (model.dense_optimizer == Optimizer::kRowwiseAdagrad) {
    return FailAt(*keys.Find("dense_optimizer"),
                  "dense_optimizer is rowwise_adagrad, which is for tables; "
                  "expected sgd, adagrad or adam");
  }
  ASSIGN_OR_RETURN(
      model.table_optimizer,
      Choice<Optimizer>(keys, "table_optimizer", kOptimizers, both));
  ASSIGN_OR_RETURN(model.optimizer_form,
                   Choice<OptimizerForm>(keys, "optimizer_form", kForms,
                                         OptimizerForm::kPerTensor));
  return {};
}

}  // namespace

Result<Model> ParseModel(std::string_view text, std::string_view source,
                         const ReadBeside& read) {
  ASSIGN_OR_RETURN(const toml::table table, ParseToml(text, source));
  ASSIGN_OR_RETURN(const ModelKeys keys, ModelKeys::Make(table, kKeys));
  Model model;
  ASSIGN_OR_RETURN(model.name, keys.Text("name", ""));
  if (model.name.empty()) {
    model.name = std::filesystem::path(source).stem().string();
  }
  ASSIGN_OR_RETURN(model.source, keys.Text("source", ""));
  ASSIGN_OR_RETURN(model.kind,
                   Choice<ModelKind>(keys, "kind", kKinds, ModelKind::kDlrm));
  ASSIGN_OR_RETURN(model.batch, keys.Whole("batch", 0, 1, kMostBatch));
  if (model.batch == 0) {
    return FailAt(table,
                  "batch is missing; expected the usual samples of a "
                  "step");
  }
  RETURN_IF_ERROR(ReadDense(keys, model));
  ASSIGN_OR_RETURN(model.tables, ReadTables(keys, read));
  RETURN_IF_ERROR(ReadInteraction(keys, model));
  ASSIGN_OR_RETURN(model.loss, Choice<Loss>(keys, "loss", kLosses, Loss::kBce));
  ASSIGN_OR_RETURN(model.dropout, keys.Number("dropout", 0, 0, 1));
  RETURN_IF_ERROR(ReadOptimizers(keys, model));
  ASSIGN_OR_RETURN(model.image_size,
                   keys.Whole("image_size", 224, 75, kMostImage));
  ASSIGN_OR_RETURN(model.classes, keys.Whole("classes", 1000, 1, kMostWidth));
  if (model.kind == ModelKind::kTransformer) {
    RETURN_IF_ERROR(ReadTransformer(keys, model));
  } else if (model.kind != ModelKind::kResNet50 &&
             model.kind != ModelKind::kInceptionV3) {
    RETURN_IF_ERROR(CheckRecommender(keys, model));
  }
  return model;
}

}  // namespace stepcast::workload
