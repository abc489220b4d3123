// A model as its file describes it: what is trained, not how or where.
#ifndef STEPCAST_MODEL_MODEL_H_
#define STEPCAST_MODEL_MODEL_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/tables/placement.h"

namespace stepcast::model {

// How often the lookups of a table go to each of its rows.

enum class IdKind {
  kUnknown,    // Nobody says; what prices it assumes something usual.
  kUniform,    // Every row as likely.
  kZipf,       // Density x^-alpha over the rows.
  kHistogram,  // Shares of the rows get shares of the lookups.
  kMeasured,   // Ids as they were recorded.
};

/// "uniform", "zipf", ...: as in the files.
std::string_view Name(IdKind kind);

/// Of all rows, `rows` of them (a share, 0 to 1) get `lookups` of the lookups.
struct HistogramStep {
  double rows = 0;
  double lookups = 0;
  friend bool operator==(const HistogramStep&, const HistogramStep&) = default;
};

struct IdDistribution {
  IdKind kind = IdKind::kUnknown;
  double alpha = 0;                    // Of kZipf.
  std::vector<HistogramStep> steps{};  // Of kHistogram; both sum to 1.
  std::vector<int64_t> ids{};          // Of kMeasured, in order.
  friend bool operator==(const IdDistribution&,
                         const IdDistribution&) = default;
};

enum class ModelKind {
  kDlrm,
  kWideDeep,
  kNcf,
  kDeepFm,
  kResNet50,
  kInceptionV3,
  kTransformer
};

/// How embeddings and dense features interact.
enum class InteractionKind {
  kDot,    // Pairwise dot products of all vectors, next to the dense one.
  kCat,    // All vectors side by side.
  kDcnV2,  // kCat, then crosses x0 * (U (V x) + b) + x of low rank.
};

enum class Loss { kBce, kMse };

enum class Optimizer { kSgd, kAdagrad, kRowwiseAdagrad, kAdam };

/// How dense parameters are updated.
enum class OptimizerForm {
  kPerTensor,  // Some kernels for each tensor.
  kForeach,    // The same steps, each in few kernels over all tensors.
  kFused,      // All steps in few kernels over all tensors.
};

/// Bytes of a number of FP32.
inline constexpr int64_t kFp32Bytes = 4;

/// Tables that are alike.
struct TableGroup {
  int64_t count = 1;
  int64_t rows = 0;    // Of each.
  int64_t dim = 0;     // Of each.
  double pooling = 1;  // Ids per sample, on average.
  IdDistribution ids{};
  Placement placement = Placement::kHbm;
  double cache = 0;  // Of caches: the share of its rows that the GPU holds.
  friend bool operator==(const TableGroup&, const TableGroup&) = default;
};

struct Interaction {
  InteractionKind kind = InteractionKind::kDot;
  int64_t cross_layers = 0;  // Of kDcnV2.
  int64_t cross_rank = 0;
  int64_t padding = 1;  // Of kDot: zeros make its columns a multiple of this.
  friend bool operator==(const Interaction&, const Interaction&) = default;
};

/// What a transformer is made of.
struct Transformer {
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t feed_forward = 0;
  int64_t vocabulary = 0;
  int64_t sequence = 0;
  int64_t classes = 0;    // Of the head; 0: the vocabulary, at every place.
  bool pre_norm = false;  // Layer norm before the blocks, as in GPT-2.
  friend bool operator==(const Transformer&, const Transformer&) = default;
};

/// Samples of a step, far above any and far below where sizes would overflow.
inline constexpr int64_t kMostBatch = 16'777'216;

/// A model is checked when it is read: sizes are above 0 and fit each other.
struct Model {
  std::string name;
  std::string source;  // Where its numbers are from.
  ModelKind kind = ModelKind::kDlrm;
  int64_t batch = 0;  // Usual samples per step.

  // Recommendation models.
  int64_t dense_features = 0;
  std::vector<TableGroup> tables{};
  std::vector<int64_t> bottom_mlp{};  // Widths after the dense features.
  std::vector<int64_t> top_mlp{};     // Widths after the interaction.
  Interaction interaction{};
  Loss loss = Loss::kBce;
  double dropout = 0;  // After each hidden layer of the top; 0: none.

  // Image and language models.
  int64_t image_size = 0;
  int64_t classes = 0;
  Transformer transformer{};

  Optimizer dense_optimizer = Optimizer::kSgd;
  Optimizer table_optimizer = Optimizer::kSgd;
  OptimizerForm optimizer_form = OptimizerForm::kPerTensor;

  friend bool operator==(const Model&, const Model&) = default;
};

/// "dlrm", "dot", "bce", "sgd", "per_tensor": as in the files.
std::string_view Name(ModelKind kind);
std::string_view Name(InteractionKind kind);
std::string_view Name(Loss loss);
std::string_view Name(Optimizer optimizer);
std::string_view Name(OptimizerForm form);

/// Tables, one by one.
int64_t TableCount(const Model& model);
/// Columns of all tables' vectors.
int64_t EmbeddingWidth(const Model& model);
/// Columns that the top MLP reads.
int64_t InteractionWidth(const Model& model);

}  // namespace stepcast::model

#endif  // STEPCAST_MODEL_MODEL_H_
