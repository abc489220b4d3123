// Collectives of ranks that share a model's tables, sized from their plans.
#ifndef STEPCAST_MODEL_FRAMEWORKS_EXCHANGE_H_
#define STEPCAST_MODEL_FRAMEWORKS_EXCHANGE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "ir/shape.h"
#include "model/frameworks/torch/torch.h"
#include "model/model.h"
#include "model/tables/rank_plan.h"

namespace stepcast::model {

// PyTorch's DistributedDataParallel: gradients gathered in buckets, which are
// summed over the ranks while the backward pass goes on.

/// What becomes of gradients once their bucket is summed.
enum class SummedGradients {
  kViews,   // They point into the bucket: gradient_as_bucket_view, TorchRec.
  kCopies,  // They are copied back out of it.
};

/// One DDP around a model. All have one rank too, where buckets are filled but
/// not summed.
class Ddp {
 public:
  /// `bucket_mib` as in Settings.
  Ddp(Torch& torch, const RankPlan& plan, ir::StreamId stream,
      SummedGradients summed, int64_t bucket_mib)
      : torch_(torch),
        plan_(plan),
        stream_(stream),
        summed_(summed),
        bucket_mib_(bucket_mib) {}

  /// How many parameters it has: the last one's gradient ends a bucket.
  void SetParameters(int64_t count) { parameters_ = count; }

  /// A gradient is there, inside its node: into its bucket, divided by the
  /// ranks. A bucket that is full, or the last, is summed.
  void Reduce(int64_t elements);
  /// Sums a gradient that has a bucket of its own, of a DDP around it alone.
  void ReduceAlone(int64_t elements);
  /// After the last node: waits for the buckets, and gives gradients back.
  void Finish();

 private:
  void SumBucket(int64_t elements);
  int64_t BucketBytes() const;  // Of the one that is open.

  Torch& torch_;
  const RankPlan& plan_;
  ir::StreamId stream_;
  SummedGradients summed_;
  int64_t bucket_mib_;
  int64_t parameters_ = 0;
  int64_t gradients_ = 0;         // All so far.
  int64_t bucket_ = 0;            // Elements that wait to be summed.
  std::vector<int64_t> filling_;  // Gradients of the bucket that is open.
  std::vector<std::vector<int64_t>> buckets_;  // Those that were summed.
  std::vector<std::vector<int64_t>> alone_;    // Those of ReduceAlone.
};

/// The stream of collectives, as the profiler numbers it in the 8-rank DLRM
/// trace; the same on every rank.
inline constexpr int64_t kCollectiveStream = 84;

/// What ranks make for the samples of one of them, in elements: vectors, ids
/// or lengths.
struct Portions {
  int64_t own = 0;                 // By this rank.
  int64_t all = 0;                 // By all together.
  std::vector<int64_t> by_rank{};  // Empty: not known.
};

/// Portions of `elements` for each unit of `part` of the loads. `own` and `all`
/// count if the plan has no loads.
Portions PortionsOf(const RankPlan& plan, int64_t RankLoad::*part,
                    int64_t elements, const Portions& known);

/// The portions that hold something, one by one; of plans without loads, as if
/// all that make some made as much.
std::vector<int64_t> PartsOf(const RankPlan& plan, const Portions& portions);

/// Every rank has `portions.own` for each other one and gets their portions:
/// vectors to where their samples are. Where splits are not known, the bytes
/// are those of the busier way, so that a rank which sends nothing has some.
ir::Collective ToSamples(const RankPlan& plan, const Portions& portions,
                         ir::DType dtype);
/// The way back: ids and gradients to where the tables are.
ir::Collective ToTables(const RankPlan& plan, const Portions& portions,
                        ir::DType dtype);

/// `elements` of this rank's input, all ranks alike.
ir::Collective Collect(ir::CollectiveKind kind, const RankPlan& plan,
                       int64_t elements, ir::DType dtype);

int64_t TablesOf(std::span<const TableGroup> tables);
int64_t ColumnsOf(std::span<const TableGroup> tables);
/// Numbers of all tables.
int64_t ElementsOf(std::span<const TableGroup> tables);

}  // namespace stepcast::model

#endif  // STEPCAST_MODEL_FRAMEWORKS_EXCHANGE_H_
