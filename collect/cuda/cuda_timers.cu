#include <algorithm>
#include <chrono>
#include <utility>

#include "collect/cuda/cuda_memory.h"
#include "collect/cuda/cuda_timers.h"

namespace stepcast::collect {
namespace {

// Calls in a graph of short ones, so that what starting it costs is shared by
// many, and the time beyond which a graph needs no more of them: a call of
// 60 ms is not to be made 24 times for every sample.
constexpr int64_t kGraphCalls = 24;
constexpr double kGraphUs = 1000;

struct GraphHandle {
  cudaGraphExec_t exec = nullptr;
  ~GraphHandle() {
    if (exec != nullptr) {
      cudaGraphExecDestroy(exec);
    }
  }
};

// Two moments on a stream.
class Events {
 public:
  Events() {
    cudaEventCreate(&start_);
    cudaEventCreate(&end_);
  }
  ~Events() {
    cudaEventDestroy(start_);
    cudaEventDestroy(end_);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  void Start(cudaStream_t stream) { cudaEventRecord(start_, stream); }
  // Microseconds since Start; below 0 if anything failed.
  double EndUs(cudaStream_t stream) {
    float time_ms = 0;
    if (cudaEventRecord(end_, stream) != cudaSuccess ||
        cudaEventSynchronize(end_) != cudaSuccess ||
        cudaEventElapsedTime(&time_ms, start_, end_) != cudaSuccess) {
      return -1;
    }
    return 1e3 * static_cast<double>(time_ms);
  }

 private:
  cudaEvent_t start_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

class GraphTimer : public Prepared {
 public:
  GraphTimer(cudaStream_t stream, Launch graph, Launch kept, int64_t calls)
      : stream_(stream),
        graph_(std::move(graph)),
        kept_(std::move(kept)),
        calls_(calls) {}

  int64_t calls() const override { return calls_; }
  std::string timing() const override { return "graph"; }

  double RunUs(int64_t rounds) override {
    events_.Start(stream_);
    for (int64_t i = 0; i < rounds; ++i) {
      if (graph_(stream_, 0) != cudaSuccess) {
        return -1;
      }
    }
    return events_.EndUs(stream_);
  }

 private:
  cudaStream_t stream_;
  Launch graph_;
  Launch kept_;  // Owns the memory that the graph uses.
  int64_t calls_;
  Events events_{};
};

class LoopTimer : public Prepared {
 public:
  LoopTimer(cudaStream_t stream, Launch launch)
      : stream_(stream), launch_(std::move(launch)) {}

  int64_t calls() const override { return 1; }
  std::string timing() const override { return "loop"; }

  double RunUs(int64_t rounds) override {
    using HostClock = std::chrono::steady_clock;
    if (cudaStreamSynchronize(stream_) != cudaSuccess) {
      return -1;
    }
    const auto start = HostClock::now();
    for (int64_t i = 0; i < rounds; ++i) {
      if (launch_(stream_, 0) != cudaSuccess) {
        return -1;
      }
    }
    if (cudaStreamSynchronize(stream_) != cudaSuccess) {
      return -1;
    }
    return std::chrono::duration<double, std::micro>(HostClock::now() - start)
        .count();
  }

 private:
  cudaStream_t stream_;
  Launch launch_;
};

}  // namespace

Launch MakeGraphLaunch(cudaStream_t stream, const Launch& launch, int64_t calls,
                       int64_t copies, std::string& why) {
  // Once outside: libraries choose kernels and allocate on first use.
  if (!Succeeded(launch(stream, 0), why) ||
      !Succeeded(cudaStreamSynchronize(stream), why) ||
      !Succeeded(
          cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
          why)) {
    return nullptr;
  }
  cudaError_t launched = cudaSuccess;
  for (int64_t i = 0; i < calls && launched == cudaSuccess; ++i) {
    launched = launch(stream, i % copies);
  }
  // A capture is to be ended whatever happened.
  cudaGraph_t graph = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
  if (!Succeeded(launched, why) || !Succeeded(ended, why)) {
    if (graph != nullptr) {
      cudaGraphDestroy(graph);
    }
    return nullptr;
  }
  auto handle = std::make_shared<GraphHandle>();
  const cudaError_t made =
      cudaGraphInstantiateWithFlags(&handle->exec, graph, 0);
  cudaGraphDestroy(graph);
  if (!Succeeded(made, why)) {
    return nullptr;
  }
  return [handle](cudaStream_t on, int64_t /*copy*/) {
    return cudaGraphLaunch(handle->exec, on);
  };
}

std::unique_ptr<Prepared> MakeGraphTimer(cudaStream_t stream, Launch launch,
                                         int64_t copies, std::string& why) {
  // The second call shows how long one takes; the first may choose an
  // algorithm.
  Events events;
  if (!Succeeded(launch(stream, 0), why)) {
    return nullptr;
  }
  events.Start(stream);
  if (!Succeeded(launch(stream, 0), why)) {
    return nullptr;
  }
  const double once_us = events.EndUs(stream);
  if (once_us < 0) {
    why = "the GPU failed at the first calls";
    return nullptr;
  }
  // A whole number of turns.
  const int64_t wanted = std::clamp<int64_t>(
      static_cast<int64_t>(kGraphUs / std::max(once_us, 1.0)), 1, kGraphCalls);
  const int64_t calls = (wanted + copies - 1) / copies * copies;
  Launch graph = MakeGraphLaunch(stream, launch, calls, copies, why);
  if (!graph) {
    return nullptr;
  }
  return std::make_unique<GraphTimer>(stream, std::move(graph),
                                      std::move(launch), calls);
}

std::unique_ptr<Prepared> MakeLoopTimer(cudaStream_t stream, Launch launch) {
  return std::make_unique<LoopTimer>(stream, std::move(launch));
}

}  // namespace stepcast::collect
