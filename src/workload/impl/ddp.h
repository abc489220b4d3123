// PyTorch's DistributedDataParallel: gradients gathered in buckets, which are
// summed over the ranks while the backward pass goes on.
#ifndef STEPCAST_WORKLOAD_IMPL_DDP_H_
#define STEPCAST_WORKLOAD_IMPL_DDP_H_

#include <cstdint>
#include <vector>

#include "workload/impl/torch.h"
#include "workload/rank_plan.h"

namespace stepcast::workload {

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
  /// Behind the last node: waits for the buckets, and gives gradients back.
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

}  // namespace stepcast::workload

#endif  // STEPCAST_WORKLOAD_IMPL_DDP_H_
