// Kernel shapes: each family of device work with exactly the numbers that
// decide its time.
//
// A number that is not known is 0 (or kUnknown): a trace without recorded
// shapes still shows the family of a kernel by its name. IsSized says whether
// enough is known to price it.
#ifndef STEPCAST_IR_SHAPE_H_
#define STEPCAST_IR_SHAPE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "ir/dtype.h"

namespace stepcast::ir {

/// Which pass through the network a kernel belongs to.
enum class Pass { kForward, kBackward, kBackwardData, kBackwardWeight };

/// c[m,n] = a[m,k] b[k,n], `batch` times.
struct Gemm {
  int64_t batch = 0;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  bool transpose_a = false;
  bool transpose_b = false;
  DType dtype = DType::kUnknown;
  friend bool operator==(const Gemm&, const Gemm&) = default;
};

/// What an embedding's backward, or an optimizer kernel, does to the weights.
enum class Update {
  kNone,
  kSgd,
  kAdagrad,
  kRowwiseAdagrad,
  kAdam,
  kLamb,
  kOther
};

/// How lookups are carried out.
enum class BagKernel {
  kTableBatched,  // One kernel over all tables; its backward sorts the ids.
  kAtomic,        // The same, but a backward that adds row by row, unsorted.
  kPerTable,      // One op per table, as nn.EmbeddingBag.
};

/// Which part of a table-batched backward one kernel does.
enum class BagPart {
  kWhole,
  kLongRuns,   // Rows with many lookups: a thread block each.
  kShortRuns,  // The other rows: a warp each.
  kIdWeights,  // The gradient of per-sample weights: updates nothing.
};

/// Where the tables are.
enum class BagPlace { kDevice, kManaged, kManagedCache };

/// Lookups in one or many tables.
struct EmbeddingBag {
  int64_t tables = 0;
  int64_t rows = 0;     // Over all tables.
  int64_t dim = 0;      // Mean over the tables: columns of the output / tables.
  int64_t batch = 0;    // Samples per table.
  int64_t lookups = 0;  // Ids over all tables and samples.
  DType dtype = DType::kUnknown;
  Pass pass = Pass::kForward;
  Update update = Update::kNone;        // Fused into the backward.
  bool pooled = true;                   // false: one output row per lookup.
  DType index_dtype = DType::kUnknown;  // kUnknown: 64 bits.
  /// Ids follow a power law of this exponent; 0: uniform; negative: unknown.
  double index_alpha = -1;
  bool warm = false;  // The same ids ran just before: what fits is in L2.
  int64_t unique_rows =
      0;  // Distinct rows touched, over all tables; 0: unknown.
  BagKernel kernel = BagKernel::kTableBatched;
  BagPart part = BagPart::kWhole;
  BagPlace place = BagPlace::kDevice;
  int64_t cache_rows = 0;   // Of kManagedCache: rows the device holds.
  int64_t longest_bag = 0;  // Ids of the longest bag; 0: unknown.
  int64_t max_dim = 0;      // The largest of all tables; 0: as `dim`.
  // Table by table, or empty: all alike.
  std::vector<int64_t> table_rows{};
  std::vector<int64_t> table_dims{};
  std::vector<int64_t> table_lookups{};
  friend bool operator==(const EmbeddingBag&, const EmbeddingBag&) = default;
};

/// Pairwise dot products of `features` vectors of `dim` a sample, fused.
struct Interaction {
  int64_t batch = 0;
  int64_t features = 0;
  int64_t dim = 0;
  DType dtype = DType::kUnknown;
  Pass pass = Pass::kForward;
  friend bool operator==(const Interaction&, const Interaction&) = default;
};

/// What an elementwise kernel computes, by what it costs.
enum class Arithmetic {
  kPlain,           // Sums, products, comparisons, copies.
  kDivision,        // Quotients and roots.
  kTranscendental,  // exp, log, tanh, sigmoid, gelu.
  kPower,           // pow with a tensor of exponents.
};

/// One result per element: arithmetic, activations, dropout, casts, losses.
struct Elementwise {
  int64_t elements = 0;  // Of the output.
  Bytes read{};          // Over all inputs, broadcasts counted once.
  Bytes written{};
  DType dtype = DType::kUnknown;
  Arithmetic arithmetic = Arithmetic::kPlain;
  bool scattered = false;  // An input is read across its layout.
  friend bool operator==(const Elementwise&, const Elementwise&) = default;
};

/// `inputs` elements into `outputs`: sums, means, norms, arg-max, scans' ends.
struct Reduction {
  int64_t inputs = 0;
  int64_t outputs = 0;
  DType dtype = DType::kUnknown;
  bool strided = false;  // The inputs of an output are apart: column sums.
  friend bool operator==(const Reduction&, const Reduction&) = default;
};

/// Softmax over `columns`, `rows` times.
struct Softmax {
  int64_t rows = 0;
  int64_t columns = 0;
  DType dtype = DType::kUnknown;
  Pass pass = Pass::kForward;
  friend bool operator==(const Softmax&, const Softmax&) = default;
};

enum class NormKind { kLayer, kBatch, kGroup };

/// Normalisation. Layer norm: `rows` vectors of `columns`. Batch norm: `rows`
/// channels of `columns` = samples x positions.
struct Normalization {
  NormKind kind = NormKind::kLayer;
  int64_t rows = 0;
  int64_t columns = 0;
  DType dtype = DType::kUnknown;
  Pass pass = Pass::kForward;
  friend bool operator==(const Normalization&, const Normalization&) = default;
};

/// 2-D convolution of [batch, in_channels, height, width].
struct Convolution {
  int64_t batch = 0;
  int64_t in_channels = 0;
  int64_t height = 0;
  int64_t width = 0;
  int64_t out_channels = 0;
  int64_t kernel_height = 0;
  int64_t kernel_width = 0;
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t groups = 1;
  DType dtype = DType::kUnknown;
  Pass pass = Pass::kForward;
  friend bool operator==(const Convolution&, const Convolution&) = default;
};

/// Max or average pooling.
struct Pooling {
  int64_t inputs = 0;  // Elements.
  int64_t outputs = 0;
  int64_t window = 0;  // Elements of the input per element of the output.
  DType dtype = DType::kUnknown;
  Pass pass = Pass::kForward;
  bool average = false;  // Means; else maxima, with where they were.
  friend bool operator==(const Pooling&, const Pooling&) = default;
};

/// Fused attention (flash, memory-efficient): batch x heads, lengths, head dim.
struct Attention {
  int64_t batch = 0;
  int64_t heads = 0;
  int64_t queries = 0;
  int64_t keys = 0;
  int64_t dim = 0;
  DType dtype = DType::kUnknown;
  Pass pass = Pass::kForward;
  friend bool operator==(const Attention&, const Attention&) = default;
};

/// Several tensors into one, or one into several.
struct Concat {
  int64_t tensors = 0;
  int64_t elements = 0;
  DType dtype = DType::kUnknown;
  friend bool operator==(const Concat&, const Concat&) = default;
};

/// A copy that changes the layout on the device.
struct Transpose {
  int64_t elements = 0;
  int64_t run = 0;  // Elements side by side in both layouts; 0: unknown.
  DType dtype = DType::kUnknown;
  friend bool operator==(const Transpose&, const Transpose&) = default;
};

/// Gather or scatter by an index tensor.
struct Index {
  int64_t elements = 0;     // Moved.
  int64_t source = 0;       // Elements of the tensor indexed.
  bool scatter = false;     // Writes by index (index_put, scatter_add).
  bool accumulate = false;  // Adds where indices repeat.
  int64_t slice = 0;        // Elements side by side at an index; 0: unknown.
  DType dtype = DType::kUnknown;
  friend bool operator==(const Index&, const Index&) = default;
};

enum class SortKind { kSort, kUnique, kScan, kSearch };

/// Sorting, finding unique values, prefix sums, searches.
struct Sort {
  SortKind kind = SortKind::kSort;
  int64_t elements = 0;
  DType dtype = DType::kUnknown;
  friend bool operator==(const Sort&, const Sort&) = default;
};

enum class CopyKind {
  kUnknown,
  kHostToDevice,
  kDeviceToHost,
  kDeviceToDevice,
  kPeerToPeer,
  kHostToHost
};

/// A memcpy.
struct Copy {
  CopyKind kind = CopyKind::kUnknown;
  Bytes bytes{};
  bool pinned = false;  // The host side is page-locked.
  friend bool operator==(const Copy&, const Copy&) = default;
};

/// A memset or a kernel that writes one value.
struct Fill {
  Bytes bytes{};
  friend bool operator==(const Fill&, const Fill&) = default;
};

/// A fused or multi-tensor optimizer kernel.
struct OptimizerStep {
  Update update = Update::kOther;
  int64_t tensors = 0;
  int64_t elements = 0;
  DType dtype = DType::kUnknown;
  friend bool operator==(const OptimizerStep&, const OptimizerStep&) = default;
};

/// Random numbers, as of dropout masks and initialisation.
struct Random {
  int64_t elements = 0;
  DType dtype = DType::kUnknown;
  friend bool operator==(const Random&, const Random&) = default;
};

enum class CollectiveKind {
  kUnknown,
  kAllReduce,
  kAllToAll,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kReduce,
  kSendRecv,
  kBarrier
};

/// One rank's part in a collective.
struct Collective {
  CollectiveKind kind = CollectiveKind::kUnknown;
  Bytes bytes{};           // This rank's input.
  int64_t group_size = 0;  // Ranks taking part.
  DType dtype = DType::kUnknown;
  std::vector<int64_t> send_splits{};  // Elements to each peer; empty if even.
  std::vector<int64_t> receive_splits{};  // Elements from each peer.
  friend bool operator==(const Collective&, const Collective&) = default;
};

/// Seen in a trace and understood by no rule: only its measured time is known.
struct Opaque {
  friend bool operator==(const Opaque&, const Opaque&) = default;
};

using KernelShape =
    std::variant<Opaque, Gemm, EmbeddingBag, Interaction, Elementwise,
                 Reduction, Softmax, Normalization, Convolution, Pooling,
                 Attention, Concat, Transpose, Index, Sort, Copy, Fill,
                 OptimizerStep, Random, Collective>;

/// "gemm", "embedding_bag", ...: the first word of the text form.
std::string_view FamilyName(const KernelShape& shape);

/// Whether every number that decides the time is known: the fields that
/// shape_fields.h marks as needed, each above 0. Never for opaque; a collective
/// has bytes or splits, unless it is a barrier.
bool IsSized(const KernelShape& shape);

/// One line: "gemm batch=1 m=2048 n=512 k=13 dtype=fp32". Defaults are left
/// out. Round-trips through ParseShape.
std::string ShapeText(const KernelShape& shape);
Result<KernelShape> ParseShape(std::string_view text);

}  // namespace stepcast::ir

#endif  // STEPCAST_IR_SHAPE_H_
