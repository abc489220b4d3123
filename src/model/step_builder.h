// Puts a step together in the order in which a framework issues it.
#ifndef STEPCAST_MODEL_STEP_BUILDER_H_
#define STEPCAST_MODEL_STEP_BUILDER_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/graph_builder.h"

namespace stepcast::model {

/// One rank with a main thread, an autograd thread if it is used, and streams.
/// What is added goes to the thread and the stream in use.
///
/// While a CUDA graph is captured, kernels go into one graph launch; ops,
/// copies from and to the host and syncs are not part of it and are left out.
class StepBuilder {
 public:
  /// The stream that PyTorch computes on, as profilers number it.
  static constexpr int64_t kComputeStream = 7;
  /// Loaders copy on a stream of their own.
  static constexpr int64_t kCopyStream = 20;
  /// What the host does itself stands on a stream that no device has.
  static constexpr int64_t kHostStream = 1000;

  explicit StepBuilder(std::string_view source);

  void SetPhase(ir::Phase phase) { phase_ = phase; }
  void UseMain() { thread_ = main_; }
  void UseAutograd();

  ir::StreamId AddStream(int64_t number);
  ir::StreamId compute_stream() const { return compute_; }
  void UseStream(ir::StreamId stream) { stream_ = stream; }

  void Begin(std::string_view name, ir::OpKind kind = ir::OpKind::kOp);
  void End();
  /// An op that launches nothing.
  void Op(std::string_view name);

  /// A kernel, by what launches it in `call`.
  ir::ActivityId Launch(const ir::KernelShape& shape,
                        std::string_view call = "cudaLaunchKernel");
  void Memset(int64_t bytes);
  /// A collective on a stream of its own, after what the stream in use holds.
  void Collect(const ir::Collective& shape, ir::StreamId stream);
  /// The host goes on after it if `waits`. Pageable memory always waits.
  void CopyToDevice(int64_t bytes, bool pinned, bool waits);
  void CopyToHost(int64_t bytes, bool pinned = false);
  void CopyOnDevice(int64_t bytes);
  /// The host itself moves `bytes` in its memory, and does nothing else.
  void WorkOnHost(int64_t bytes);
  /// The host waits while `bytes` go to or come from another server.
  void WaitForServer(int64_t bytes);
  /// The host waits for everything in the stream in use.
  void SyncStream();
  void SyncDevice();
  /// What comes next in the stream in use waits for what `other` holds now.
  void WaitForStream(ir::StreamId other);

  void BeginCapture();
  void EndCapture() { captured_ = ir::CallId{}; }

  Result<ir::Graph> Finish() &&;

 private:
  struct Queue {
    ir::ActivityId last{};
    std::vector<ir::ActivityId> waits_for{};
  };

  bool capturing() const { return captured_.valid(); }
  void Block(ir::ActivityKind kind, const ir::KernelShape& shape,
             std::string_view name);
  ir::CallId AddCall(std::string_view name, ir::CallKind kind);
  ir::ActivityId AddActivity(ir::CallId call, ir::ActivityKind kind,
                             const ir::KernelShape& shape,
                             std::string_view name);

  ir::GraphBuilder graph_;
  ir::RankId rank_{};
  ir::ThreadId main_{};
  ir::ThreadId autograd_{};
  ir::StreamId compute_{};
  ir::StreamId host_{};

  ir::Phase phase_ = ir::Phase::kForward;
  ir::ThreadId thread_{};
  ir::StreamId stream_{};
  std::vector<ir::OpId> open_;
  ir::CallId captured_{};
  IdVector<ir::StreamId, Queue> queues_;
};

/// Ends the op it began.
class OpScope {
 public:
  OpScope(StepBuilder& step, std::string_view name) : step_(step) {
    step_.Begin(name);
  }
  OpScope(const OpScope&) = delete;
  OpScope& operator=(const OpScope&) = delete;
  ~OpScope() { step_.End(); }

 private:
  StepBuilder& step_;
};

}  // namespace stepcast::model

#endif  // STEPCAST_MODEL_STEP_BUILDER_H_
