#include "workload/impl/ddp.h"

#include <utility>

#include "workload/impl/exchange.h"

namespace stepcast::workload {
namespace {

// DDP's first bucket takes 1 MiB, all others 25 MiB (reducer.hpp); a size that
// the user gives is for all (distributed.py, bucket_cap_mb).
constexpr int64_t kMebibyte = 1'048'576;
constexpr int64_t kFirstBucketBytes = kMebibyte;
constexpr int64_t kBucketBytes = 25 * kMebibyte;

}  // namespace

int64_t Ddp::BucketBytes() const {
  if (bucket_mib_ > 0) {
    return bucket_mib_ * kMebibyte;
  }
  return buckets_.empty() ? kFirstBucketBytes : kBucketBytes;
}

void Ddp::Reduce(int64_t elements) {
  const ir::DType dtype = torch_.options().types.parameter;
  torch_.step().Launch(Stream(elements, 1, dtype));
  bucket_ += elements;
  filling_.push_back(elements);
  ++gradients_;
  if (bucket_ * ir::SizeOf(dtype) >= BucketBytes() ||
      gradients_ == parameters_) {
    SumBucket(bucket_);
    buckets_.push_back(std::exchange(filling_, {}));
    bucket_ = 0;
  }
}

void Ddp::ReduceAlone(int64_t elements) {
  torch_.step().Launch(Stream(elements, 1, torch_.options().types.parameter));
  SumBucket(elements);
  alone_.push_back({elements});
}

void Ddp::SumBucket(int64_t elements) {
  if (plan_.world > 1) {
    torch_.step().Collect(Collect(ir::CollectiveKind::kAllReduce, plan_,
                                  elements, torch_.options().types.parameter),
                          stream_);
  }
}

void Ddp::Finish() {
  StepBuilder& step = torch_.step();
  std::vector<std::vector<int64_t>> buckets = std::exchange(alone_, {});
  buckets.insert(buckets.end(), buckets_.begin(), buckets_.end());
  for (const std::vector<int64_t>& gradients : buckets) {
    if (plan_.world > 1) {
      step.WaitForStream(stream_);
    }
    if (summed_ == SummedGradients::kCopies) {
      for (const int64_t elements : gradients) {
        const OpScope op(step, "aten::copy_");
        step.Launch(Stream(elements, 1, torch_.options().types.parameter));
      }
      continue;
    }
    for (size_t i = 0; i < gradients.size(); ++i) {
      step.Op("aten::as_strided");
    }
    for (size_t i = 0; i < gradients.size(); ++i) {
      step.Op("aten::select");
      step.Op("aten::item");
    }
  }
}

}  // namespace stepcast::workload
