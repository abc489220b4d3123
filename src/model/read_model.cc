#include "model/read_model.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/files/catalog.h"
#include "base/files/file.h"
#include "base/files/toml_read.h"
#include "base/result.h"
#include "base/text/nearest.h"
#include "model/model.h"
#include "model/model_keys.h"

namespace stepcast {

std::span<const EmbeddedFile> WorkloadFileTexts();

}  // namespace stepcast

namespace stepcast::model {

namespace {

const Catalog<Model>& Models() {
  static const Catalog<Model> models(
      {.what = "workload", .files = WorkloadFileTexts()}, &ParseModel);
  return models;
}

// Whether who wrote it meant a file: no model is called so.
bool IsFileName(std::string_view text) {
  constexpr std::array<std::string_view, 6> kEndings = {
      ".json", ".gz", ".graph", ".et", ".tar", ".txt"};
  return std::ranges::any_of(kEndings, [&](std::string_view ending) {
    return text.ends_with(ending);
  });
}

}  // namespace

bool IsModelName(std::string_view text) {
  return Models().NameOf(text).has_value();
}

Result<Model> FindModel(std::string_view text) {
  if (IsFileName(text)) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("{}: no such file; expected a file or a model of "
                            "`stepcast list workloads`",
                            text));
  }
  ASSIGN_OR_RETURN(const Model* model, Models().Find(text));
  return *model;
}

Result<std::vector<Model>> LoadModels() {
  ASSIGN_OR_RETURN(const auto all, Models().All());
  std::vector<Model> models;
  models.reserve(all.size());
  for (const Model* model : all) {
    models.push_back(*model);
  }
  return models;
}

namespace {

// Reading the embedding tables of a model file.

// Far above any model, and far below where products of them would overflow.
constexpr int64_t kMostRows = 100'000'000'000;
constexpr int64_t kMostDim = 65'536;
constexpr int64_t kMostTables = 100'000;
constexpr double kMostPooling = 100'000;
constexpr double kMostAlpha = 10;
constexpr double kMostBytes = 1e18;
constexpr size_t kMostIds = 100'000'000;

constexpr std::string_view kTableKeys[] = {
    "count", "rows",      "dim",      "ids",       "pooling",
    "alpha", "histogram", "ids_file", "placement", "cache"};
constexpr std::string_view kIdKinds[] = {"uniform", "zipf", "histogram",
                                         "measured"};

// [[0.01, 0.6], [0.99, 0.4]]: 1 % of the rows get 60 % of the lookups.
Result<std::vector<HistogramStep>> ReadHistogram(const toml::node& node) {
  const auto wrong = [&](const toml::node& at) {
    return FailAt(at,
                  "histogram must be a list of pairs [share of the rows, "
                  "share of the lookups]; expected each share above 0, and "
                  "both to sum to 1");
  };
  const toml::array* const list = node.as_array();
  if (list == nullptr || list->empty()) {
    return wrong(node);
  }
  std::vector<HistogramStep> steps;
  HistogramStep sum;
  for (const toml::node& item : *list) {
    const toml::array* const pair = item.as_array();
    if (pair == nullptr || pair->size() != 2 ||
        !pair->is_homogeneous<double>()) {
      return wrong(item);
    }
    const HistogramStep step{
        .rows = pair->get(0)->as_floating_point()->get(),
        .lookups = pair->get(1)->as_floating_point()->get()};
    if (!(step.rows > 0 && step.lookups > 0)) {
      return wrong(item);
    }
    sum.rows += step.rows;
    sum.lookups += step.lookups;
    steps.push_back(step);
  }
  // Room for shares written with four decimals.
  constexpr double kRounding = 0.001;
  if (!(std::abs(sum.rows - 1) < kRounding) ||
      !(std::abs(sum.lookups - 1) < kRounding)) {
    return wrong(node);
  }
  for (HistogramStep& step : steps) {
    step.rows /= sum.rows;
    step.lookups /= sum.lookups;
  }
  return steps;
}

// Whole numbers with anything but digits between them.
Result<std::vector<int64_t>> ParseIds(std::string_view text,
                                      const toml::node& node,
                                      std::string_view name) {
  std::vector<int64_t> ids;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (at != end) {
    if (*at < '0' || *at > '9') {
      ++at;
      continue;
    }
    int64_t id = 0;
    const auto [next, error] = std::from_chars(at, end, id);
    if (error != std::errc() || ids.size() == kMostIds) {
      return FailAt(node, fmt::format("{} holds a number above 2^63 or more "
                                      "than {} ids; expected row numbers",
                                      name, kMostIds));
    }
    ids.push_back(id);
    at = next;
  }
  if (ids.empty()) {
    return FailAt(node, fmt::format("{} holds no ids; expected row numbers in "
                                    "the order of the lookups",
                                    name));
  }
  return ids;
}

Result<IdDistribution> ReadIds(const ModelKeys& keys, const ReadSibling& read) {
  IdDistribution ids;
  ASSIGN_OR_RETURN(std::string kind, keys.Text("ids", ""));
  const toml::node* const histogram = keys.Find("histogram");
  const toml::node* const file = keys.Find("ids_file");
  if (kind.empty() && histogram != nullptr) {
    kind = "histogram";
  } else if (kind.empty() && file != nullptr) {
    kind = "measured";
  } else if (kind.empty() && keys.Find("alpha") != nullptr) {
    kind = "zipf";
  }
  if (kind.empty()) {
    return ids;
  }
  if (kind == "uniform") {
    ids.kind = IdKind::kUniform;
  } else if (kind == "zipf") {
    ids.kind = IdKind::kZipf;
    if (keys.Find("alpha") == nullptr) {
      return FailAt(*keys.Find("ids"),
                    "ids are zipf without alpha; expected "
                    "the exponent, as in alpha = 1.05");
    }
    ASSIGN_OR_RETURN(ids.alpha, keys.Number("alpha", 0, 0, kMostAlpha));
  } else if (kind == "histogram" && histogram != nullptr) {
    ids.kind = IdKind::kHistogram;
    ASSIGN_OR_RETURN(ids.steps, ReadHistogram(*histogram));
  } else if (kind == "measured" && file != nullptr) {
    ids.kind = IdKind::kMeasured;
    ASSIGN_OR_RETURN(const std::string name, keys.Text("ids_file", ""));
    Result<std::string> text = read(name);
    if (!text) {
      return FailAt(*file, text.error().message);
    }
    ASSIGN_OR_RETURN(ids.ids, ParseIds(*text, *file, name));
  } else if (kind == "histogram" || kind == "measured") {
    return FailAt(*keys.Find("ids"),
                  fmt::format("ids are {0} without {1}; expected {1}", kind,
                              kind == "histogram" ? "histogram" : "ids_file"));
  } else {
    return FailAt(*keys.Find("ids"), Unknown("ids", kind, kIdKinds));
  }
  return ids;
}

// Where the tables live, in `group`.
Status ReadPlacement(const ModelKeys& keys, TableGroup& group) {
  ASSIGN_OR_RETURN(const std::string word, keys.Text("placement", ""));
  if (!word.empty()) {
    const auto placement = ParsePlacement(word);
    if (!placement) {
      return FailAt(*keys.Find("placement"), placement.error().message);
    }
    group.placement = *placement;
  }
  constexpr double kLeastCache = 1e-6;
  const bool cached = IsCached(group.placement);
  if (!cached && keys.Find("cache") != nullptr) {
    return FailAt(*keys.Find("cache"),
                  "cache without a cache; expected placement = \"uvm-cache\"");
  }
  if (cached) {
    ASSIGN_OR_RETURN(group.cache,
                     keys.Number("cache", kUsualCache, kLeastCache, 1));
  }
  return {};
}

// One group for each of `rows`, with the pooling of its place in the list.
Result<std::vector<TableGroup>> Groups(const ModelKeys& keys,
                                       std::string_view rows_key, int64_t dim,
                                       const ReadSibling& read) {
  ASSIGN_OR_RETURN(const std::vector<int64_t> rows,
                   keys.Wholes(rows_key, 1, kMostRows));
  ASSIGN_OR_RETURN(std::vector<double> pooling,
                   keys.Numbers("pooling", 0, kMostPooling));
  ASSIGN_OR_RETURN(const IdDistribution ids, ReadIds(keys, read));
  ASSIGN_OR_RETURN(const int64_t count, keys.Whole("count", 1, 1, kMostTables));
  if (rows.empty()) {
    return FailAt(keys.table(), fmt::format("{} is missing; expected the rows "
                                            "of a table, or a list",
                                            rows_key));
  }
  if (pooling.empty()) {
    pooling.push_back(1);
  }
  if (pooling.size() != 1 && pooling.size() != rows.size()) {
    return FailAt(
        *keys.Find("pooling"),
        fmt::format("{} has {} numbers for {} tables; expected one, "
                    "or one a table",
                    keys.WordFor("pooling"), pooling.size(), rows.size()));
  }
  TableGroup like{.count = count, .dim = dim, .ids = ids};
  RETURN_IF_ERROR(ReadPlacement(keys, like));
  std::vector<TableGroup> groups;
  for (size_t i = 0; i < rows.size(); ++i) {
    TableGroup group = like;
    group.rows = rows[i];
    group.pooling = pooling[pooling.size() == 1 ? 0 : i];
    if (!groups.empty() && groups.back().rows == group.rows &&
        groups.back().pooling == group.pooling) {
      groups.back().count += count;
    } else {
      groups.push_back(std::move(group));
    }
  }
  return groups;
}

Status CheckSize(const std::vector<TableGroup>& tables,
                 const toml::table& table) {
  double bytes = 0;
  int64_t count = 0;
  for (const TableGroup& group : tables) {
    count += group.count;
    bytes += 4.0 * static_cast<double>(group.count) *
             static_cast<double>(group.rows) * static_cast<double>(group.dim);
  }
  if (count > kMostTables || bytes > kMostBytes) {
    return FailAt(table, fmt::format("{} tables of {:.3g} bytes in all; "
                                     "expected at most {} tables and {:.0e} "
                                     "bytes",
                                     count, bytes, kMostTables, kMostBytes));
  }
  return {};
}

Result<std::vector<TableGroup>> ReadTables(const ModelKeys& keys,
                                           const ReadSibling& read) {
  ASSIGN_OR_RETURN(const int64_t usual_dim,
                   keys.Whole("embedding_dim", 0, 1, kMostDim));
  const toml::node* const node = keys.Find("tables");
  if (node != nullptr && keys.Find("table_rows") != nullptr) {
    return FailAt(*keys.Find("table_rows"),
                  fmt::format("{} is given along with [[tables]]; expected one "
                              "of them",
                              keys.WordFor("table_rows")));
  }
  if (node == nullptr) {
    if (keys.Find("table_rows") == nullptr) {
      return std::vector<TableGroup>();
    }
    if (usual_dim == 0) {
      return FailAt(*keys.Find("table_rows"),
                    "embedding_dim is missing; expected the columns of the "
                    "tables");
    }
    ASSIGN_OR_RETURN(auto tables, Groups(keys, "table_rows", usual_dim, read));
    RETURN_IF_ERROR(CheckSize(tables, keys.table()));
    return tables;
  }
  const toml::array* const list = node->as_array();
  if (list == nullptr || !list->is_array_of_tables()) {
    return FailAt(*node, "tables must be written as [[tables]] sections");
  }
  std::vector<TableGroup> tables;
  for (const toml::node& item : *list) {
    ASSIGN_OR_RETURN(const ModelKeys group_keys,
                     ModelKeys::Make(*item.as_table(), kTableKeys));
    ASSIGN_OR_RETURN(const int64_t dim,
                     group_keys.Whole("dim", usual_dim, 1, kMostDim));
    if (dim == 0) {
      return FailAt(item, "dim is missing; expected the columns of the table");
    }
    ASSIGN_OR_RETURN(const auto groups, Groups(group_keys, "rows", dim, read));
    tables.insert(tables.end(), groups.begin(), groups.end());
    RETURN_IF_ERROR(CheckSize(tables, keys.table()));
  }
  return tables;
}

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
                  "after the interaction, as in [1024, 1]");
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
                         const ReadSibling& read) {
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

}  // namespace stepcast::model
