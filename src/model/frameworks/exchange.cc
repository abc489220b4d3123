#include "model/frameworks/exchange.h"

#include <utility>

namespace stepcast::model {
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

namespace {

ir::Collective AllToAll(const RankPlan& plan, int64_t sent, ir::DType dtype) {
  return Collect(ir::CollectiveKind::kAllToAll, plan, sent, dtype);
}

}  // namespace

Portions PortionsOf(const RankPlan& plan, int64_t RankLoad::*part,
                    int64_t elements, const Portions& known) {
  if (plan.loads.empty()) {
    return {.own = known.own * elements, .all = known.all * elements};
  }
  Portions portions;
  for (const RankLoad& load : plan.loads) {
    portions.by_rank.push_back(load.*part * elements);
    portions.all += portions.by_rank.back();
  }
  portions.own = portions.by_rank[static_cast<size_t>(plan.rank)];
  return portions;
}

std::vector<int64_t> PartsOf(const RankPlan& plan, const Portions& portions) {
  if (portions.by_rank.empty()) {
    const int64_t makers = plan.makers > 0 ? plan.makers : plan.world;
    return std::vector<int64_t>(static_cast<size_t>(makers),
                                portions.all / makers);
  }
  std::vector<int64_t> parts = portions.by_rank;
  std::erase(parts, 0);
  return parts;
}

ir::Collective ToSamples(const RankPlan& plan, const Portions& portions,
                         ir::DType dtype) {
  const int64_t sent = portions.own * plan.world;
  if (portions.by_rank.empty()) {
    return AllToAll(plan, sent > 0 ? sent : portions.all, dtype);
  }
  ir::Collective collective = AllToAll(plan, sent, dtype);
  collective.send_splits.assign(static_cast<size_t>(plan.world), portions.own);
  collective.receive_splits = portions.by_rank;
  return collective;
}

ir::Collective ToTables(const RankPlan& plan, const Portions& portions,
                        ir::DType dtype) {
  ir::Collective collective = AllToAll(plan, portions.all, dtype);
  if (!portions.by_rank.empty()) {
    collective.send_splits = portions.by_rank;
    collective.receive_splits.assign(static_cast<size_t>(plan.world),
                                     portions.own);
  }
  return collective;
}

ir::Collective Collect(ir::CollectiveKind kind, const RankPlan& plan,
                       int64_t elements, ir::DType dtype) {
  return {.kind = kind,
          .bytes = {elements * ir::SizeOf(dtype)},
          .group_size = plan.world,
          .dtype = dtype};
}

int64_t TablesOf(std::span<const TableGroup> tables) {
  int64_t count = 0;
  for (const TableGroup& group : tables) {
    count += group.count;
  }
  return count;
}

int64_t ElementsOf(std::span<const TableGroup> tables) {
  int64_t elements = 0;
  for (const TableGroup& group : tables) {
    elements += group.count * group.rows * group.dim;
  }
  return elements;
}

int64_t ColumnsOf(std::span<const TableGroup> tables) {
  int64_t columns = 0;
  for (const TableGroup& group : tables) {
    columns += group.count * group.dim;
  }
  return columns;
}

}  // namespace stepcast::model
