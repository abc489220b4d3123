// Horovod under TensorFlow: gradients fused into buffers and summed over the
// ranks, vectors of tables exchanged.
#ifndef STEPCAST_WORKLOAD_IMPL_HOROVOD_H_
#define STEPCAST_WORKLOAD_IMPL_HOROVOD_H_

#include <cstdint>

#include "workload/impl/exchange.h"
#include "workload/impl/tensorflow.h"
#include "workload/rank_plan.h"

namespace stepcast::workload {

/// Its copies and collectives are on one stream of its own.
class Horovod {
 public:
  /// `plan` is one of several ranks.
  Horovod(Tensorflow& tf, const RankPlan& plan, ir::StreamId stream)
      : tf_(tf), plan_(plan), stream_(stream) {}

  /// A gradient is there; a buffer that is full is summed.
  void Reduce(int64_t elements);
  /// The last buffer; what comes behind waits for all sums.
  void Finish();

  /// All vectors of a rank's samples, `columns` wide, of those that each rank
  /// made for the samples of all; gradients go the other way.
  Tensor Exchange(const Tensor& made, int64_t columns);

 private:
  void SumBuffer();
  void Send(const ir::Collective& collective);

  Tensorflow& tf_;
  const RankPlan& plan_;
  ir::StreamId stream_;
  int64_t buffer_ = 0;   // Elements that wait to be summed.
  int64_t tensors_ = 0;  // Of the buffer.
};

}  // namespace stepcast::workload

#endif  // STEPCAST_WORKLOAD_IMPL_HOROVOD_H_
