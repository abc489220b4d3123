#include "workload/impl/horovod.h"

#include <utility>

namespace stepcast::workload {
namespace {

// The default of HOROVOD_FUSION_THRESHOLD (docs/tensor-fusion). That Horovod
// also sums what is there once in every cycle of a millisecond is left out.
constexpr int64_t kBufferBytes = int64_t{128} * 1'048'576;

}  // namespace

void Horovod::Reduce(int64_t elements) {
  const int64_t size = ir::SizeOf(tf_.options().types.parameter);
  if (tensors_ > 0 && (buffer_ + elements) * size > kBufferBytes) {
    SumBuffer();
  }
  buffer_ += elements;
  ++tensors_;
}

void Horovod::Finish() {
  if (tensors_ > 0) {
    SumBuffer();
  }
  tf_.step().WaitForStream(stream_);
}

// A buffer of one tensor needs no copies.
void Horovod::SumBuffer() {
  StepBuilder& step = tf_.step();
  const ir::DType dtype = tf_.options().types.parameter;
  const ir::Concat copies{.tensors = std::exchange(tensors_, 0),
                          .elements = std::exchange(buffer_, 0),
                          .dtype = dtype};
  const OpScope op(step, "tf::HorovodAllreduce");
  step.UseStream(stream_);
  step.WaitForStream(step.compute_stream());
  if (copies.tensors > 1) {
    step.Launch(copies);
  }
  step.Collect(
      Collect(ir::CollectiveKind::kAllReduce, plan_, copies.elements, dtype),
      stream_);
  if (copies.tensors > 1) {
    step.Launch(copies);
  }
  step.UseStream(step.compute_stream());
}

void Horovod::Send(const ir::Collective& collective) {
  const OpScope op(tf_.step(), "tf::HorovodAlltoall");
  tf_.step().Collect(collective, stream_);
  tf_.step().WaitForStream(stream_);
}

Tensor Horovod::Exchange(const Tensor& made, int64_t columns) {
  const Tensor all{.rows = made.rows / plan_.world,
                   .columns = columns,
                   .dtype = made.dtype,
                   .grad = tf_.options().train};
  const Portions portions = PortionsOf(plan_, &RankLoad::columns, all.rows,
                                       {.own = made.columns, .all = columns});
  // Into one tensor by rank, and what came in the order of the features.
  const ir::Concat sent{
      .tensors = plan_.world, .elements = made.elements(), .dtype = made.dtype};
  const ir::Concat received{.tensors = std::ssize(PartsOf(plan_, portions)),
                            .elements = all.elements(),
                            .dtype = made.dtype};
  if (made.columns > 0) {
    tf_.Op("tf::ConcatV2", sent);
  }
  Send(ToSamples(plan_, portions, made.dtype));
  tf_.Op("tf::ConcatV2", received);
  tf_.OnBackward([this, made, sent, received, portions] {
    tf_.Op("tf::ConcatV2", received);
    Send(ToTables(plan_, portions, made.dtype));
    if (made.columns > 0) {
      tf_.Op("tf::ConcatV2", sent);
    }
  });
  return all;
}

}  // namespace stepcast::workload
