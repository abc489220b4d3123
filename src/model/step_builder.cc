#include "model/step_builder.h"

#include <utility>

#include "base/check.h"

namespace stepcast::model {

StepBuilder::StepBuilder(std::string_view source) {
  graph_.set_source(source);
  rank_ = graph_.AddRank({});
  main_ = graph_.AddThread({.rank = rank_, .role = ir::ThreadRole::kMain});
  thread_ = main_;
  compute_ = AddStream(kComputeStream);
  stream_ = compute_;
}

void StepBuilder::UseAutograd() {
  if (!autograd_.valid() && !capturing()) {
    autograd_ =
        graph_.AddThread({.rank = rank_, .role = ir::ThreadRole::kAutograd});
  }
  thread_ = autograd_.valid() ? autograd_ : main_;
}

ir::StreamId StepBuilder::AddStream(int64_t number) {
  const ir::StreamId id = graph_.AddStream({.rank = rank_, .number = number});
  CHECK(queues_.push_back({}) == id);
  return id;
}

void StepBuilder::Begin(std::string_view name, ir::OpKind kind) {
  if (capturing()) {
    return;
  }
  open_.push_back(
      graph_.AddOp({.name = graph_.Intern(name),
                    .kind = kind,
                    .thread = thread_,
                    .parent = open_.empty() ? ir::OpId{} : open_.back(),
                    .phase = phase_}));
}

void StepBuilder::End() {
  if (!capturing()) {
    CHECK(!open_.empty());
    open_.pop_back();
  }
}

void StepBuilder::Op(std::string_view name) {
  Begin(name);
  End();
}

ir::CallId StepBuilder::AddCall(std::string_view name, ir::CallKind kind) {
  const bool waits =
      kind != ir::CallKind::kLaunch && kind != ir::CallKind::kGraphLaunch;
  return graph_.AddCall({.name = graph_.Intern(name),
                         .kind = kind,
                         .thread = thread_,
                         .op = open_.empty() ? ir::OpId{} : open_.back(),
                         .stream = waits ? stream_ : ir::StreamId{}});
}

ir::ActivityId StepBuilder::AddActivity(ir::CallId call, ir::ActivityKind kind,
                                        const ir::KernelShape& shape,
                                        std::string_view name) {
  const ir::ActivityId id = graph_.AddActivity({.name = graph_.Intern(name),
                                                .kind = kind,
                                                .stream = stream_,
                                                .call = call},
                                               shape);
  Queue& queue = queues_[stream_];
  for (const ir::ActivityId before : std::exchange(queue.waits_for, {})) {
    graph_.AddStreamWait({.before = before, .after = id});
  }
  queue.last = id;
  return id;
}

ir::ActivityId StepBuilder::Launch(const ir::KernelShape& shape,
                                   std::string_view call) {
  const ir::CallId id =
      capturing() ? captured_ : AddCall(call, ir::CallKind::kLaunch);
  return AddActivity(id, ir::ActivityKind::kKernel, shape,
                     ir::FamilyName(shape));
}

void StepBuilder::Memset(int64_t bytes) {
  const ir::CallId call =
      capturing() ? captured_
                  : AddCall("cudaMemsetAsync", ir::CallKind::kLaunch);
  AddActivity(call, ir::ActivityKind::kMemset, ir::Fill{.bytes = {bytes}},
              "Memset (Device)");
}

void StepBuilder::Collect(const ir::Collective& shape, ir::StreamId stream) {
  const ir::StreamId before = std::exchange(stream_, stream);
  WaitForStream(before);
  const ir::CallId call =
      capturing() ? captured_
                  : AddCall("cudaLaunchKernel", ir::CallKind::kLaunch);
  AddActivity(call, ir::ActivityKind::kCollective, shape, "collective");
  stream_ = before;
}

void StepBuilder::CopyToDevice(int64_t bytes, bool pinned, bool waits) {
  if (capturing()) {
    return;
  }
  const ir::ActivityId copy =
      AddActivity(AddCall("cudaMemcpyAsync", ir::CallKind::kLaunch),
                  ir::ActivityKind::kMemcpy,
                  ir::Copy{.kind = ir::CopyKind::kHostToDevice,
                           .bytes = {bytes},
                           .pinned = pinned},
                  pinned ? "Memcpy HtoD (Pinned -> Device)"
                         : "Memcpy HtoD (Pageable -> Device)");
  if (waits || !pinned) {
    const ir::CallId sync =
        AddCall("cudaStreamSynchronize", ir::CallKind::kStreamSync);
    graph_.AddHostWait({.before = copy, .call = sync});
  }
}

void StepBuilder::CopyToHost(int64_t bytes, bool pinned) {
  if (capturing()) {
    return;
  }
  // To pageable memory: the call itself returns when the copy is done.
  const ir::CallId call = AddCall("cudaMemcpyAsync", ir::CallKind::kLaunch);
  const ir::ActivityId copy =
      AddActivity(call, ir::ActivityKind::kMemcpy,
                  ir::Copy{.kind = ir::CopyKind::kDeviceToHost,
                           .bytes = {bytes},
                           .pinned = pinned},
                  pinned ? "Memcpy DtoH (Device -> Pinned)"
                         : "Memcpy DtoH (Device -> Pageable)");
  const ir::CallId sync =
      AddCall("cudaStreamSynchronize", ir::CallKind::kStreamSync);
  graph_.AddHostWait({.before = copy, .call = call});
  graph_.AddHostWait({.before = copy, .call = sync});
}

// An activity of the host's own, for which the call that stands for it waits.
void StepBuilder::Block(ir::ActivityKind kind, const ir::KernelShape& shape,
                        std::string_view name) {
  if (!host_.valid()) {
    host_ = AddStream(kHostStream);
  }
  const ir::StreamId before = std::exchange(stream_, host_);
  const ir::CallId call = AddCall("cudaMemcpyAsync", ir::CallKind::kLaunch);
  const ir::ActivityId activity = AddActivity(call, kind, shape, name);
  graph_.AddHostWait({.before = activity, .call = call});
  stream_ = before;
}

void StepBuilder::WorkOnHost(int64_t bytes) {
  Block(ir::ActivityKind::kMemcpy,
        ir::Copy{.kind = ir::CopyKind::kHostToHost, .bytes = {bytes}},
        "host memory");
}

void StepBuilder::WaitForServer(int64_t bytes) {
  Block(ir::ActivityKind::kCollective,
        ir::Collective{.kind = ir::CollectiveKind::kSendRecv,
                       .bytes = {bytes},
                       .group_size = 2,
                       .dtype = ir::DType::kFp32},
        "parameter server");
}

void StepBuilder::CopyOnDevice(int64_t bytes) {
  const ir::CallId call =
      capturing() ? captured_
                  : AddCall("cudaMemcpyAsync", ir::CallKind::kLaunch);
  AddActivity(call, ir::ActivityKind::kMemcpy,
              ir::Copy{.kind = ir::CopyKind::kDeviceToDevice, .bytes = {bytes}},
              "Memcpy DtoD (Device -> Device)");
}

void StepBuilder::SyncStream() {
  if (capturing() || !queues_[stream_].last.valid()) {
    return;
  }
  const ir::CallId sync =
      AddCall("cudaStreamSynchronize", ir::CallKind::kStreamSync);
  graph_.AddHostWait({.before = queues_[stream_].last, .call = sync});
}

void StepBuilder::SyncDevice() {
  if (capturing()) {
    return;
  }
  const ir::CallId sync =
      AddCall("cudaDeviceSynchronize", ir::CallKind::kDeviceSync);
  for (const Queue& queue : queues_) {
    if (queue.last.valid()) {
      graph_.AddHostWait({.before = queue.last, .call = sync});
    }
  }
}

void StepBuilder::WaitForStream(ir::StreamId other) {
  if (other == stream_ || !queues_[other].last.valid()) {
    return;
  }
  queues_[stream_].waits_for.push_back(queues_[other].last);
  if (capturing()) {
    return;
  }
  const ir::StreamId waiting = std::exchange(stream_, other);
  const ir::CallId record =
      AddCall("cudaEventRecord", ir::CallKind::kEventRecord);
  stream_ = waiting;
  graph_.AddCall({.name = graph_.Intern("cudaStreamWaitEvent"),
                  .kind = ir::CallKind::kStreamWait,
                  .thread = thread_,
                  .op = open_.empty() ? ir::OpId{} : open_.back(),
                  .stream = stream_,
                  .event = record});
}

void StepBuilder::BeginCapture() {
  CHECK(open_.empty());
  if (!capturing()) {
    captured_ = AddCall("cudaGraphLaunch", ir::CallKind::kGraphLaunch);
  }
}

Result<ir::Graph> StepBuilder::Finish() && {
  CHECK(open_.empty());
  return std::move(graph_).Build();
}

}  // namespace stepcast::model
