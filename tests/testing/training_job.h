// Events of a DLRM-like training job, step by step, as a profiler would see
// them: the model after the generated traces.
#ifndef STEPCAST_TESTS_TESTING_TRAINING_JOB_H_
#define STEPCAST_TESTS_TESTING_TRAINING_JOB_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/testing/kernel_names.h"

namespace stepcast::testing {

struct JobOptions {
  uint64_t seed = 1;
  int layers = 4;       // Of the bottom and of the top MLP each.
  int tables = 8;       // Embedding tables on this rank.
  int orphans = 0;      // Kernels launched before the first step.
  bool python = false;  // Python frames between the ops.
  bool graphs = false;  // The forward MLPs launch as CUDA graphs.
  bool hip = false;     // AMD names instead of NVIDIA's.
};

enum class JobEventKind { kOp, kAnnotation, kPython };

/// Threads of the job: the one of the training loop and autograd's.
inline constexpr int kMainThread = 0;
inline constexpr int kAutogradThread = 1;

// Streams, as PyTorch numbers them: the default one, one for copies, NCCL's.
inline constexpr int kComputeStream = 7;
inline constexpr int kCopyStream = 20;
inline constexpr int kCommunicationStream = 84;

struct JobHostEvent {
  std::string name;
  JobEventKind kind = JobEventKind::kOp;
  int thread = kMainThread;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t id = 0;            // Unique over the job, in order of start.
  int64_t parent = -1;       // Into JobStep::host.
  int64_t sequence = -1;     // Of differentiable ops.
  std::string dims{};        // "[[16, 13], []]"
  std::string types{};       // ["float", "Scalar"]
  std::string collective{};  // Further args of a collective.
};

struct JobCall {
  std::string_view name;
  int cbid = 0;
  int thread = kMainThread;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t correlation = 0;
  int64_t op = -1;  // Into JobStep::host.
  bool launches = false;
};

enum class JobActivityKind { kKernel, kMemcpy, kMemset };

struct JobActivity {
  std::string_view name;
  JobActivityKind kind = JobActivityKind::kKernel;
  int stream = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t correlation = 0;
  int64_t call = -1;  // Into JobStep::calls; -1 for orphans.
  int64_t bytes = 0;
  int64_t grid = 1;
};

/// One step. Host events are in order of start on each thread.
struct JobStep {
  std::vector<JobHostEvent> host{};
  std::vector<JobCall> calls{};
  std::vector<JobActivity> activities{};
};

/// Makes the same steps for the same options, on every machine.
class TrainingJob {
 public:
  explicit TrainingJob(const JobOptions& options);

  JobStep Next();

 private:
  /// An event that is open as long as this lives.
  class Scope {
   public:
    Scope(TrainingJob& job, size_t event) : job_(job), event_(event) {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { job_.Close(event_); }

    JobHostEvent& event() { return job_.step_.host[event_]; }

   private:
    TrainingJob& job_;
    size_t event_;
  };
  using Shape = std::initializer_list<int64_t>;
  static constexpr size_t kNotRecorded = static_cast<size_t>(-1);

  Scope Enter(std::string_view name, std::initializer_list<Shape> shapes = {});
  Scope Annotate(std::string_view name);
  Scope Frame(std::string_view name);
  size_t Open(JobEventKind kind, std::string_view name);
  void Close(size_t event);

  // The model, in training_job_ops.cc.
  void LoadBatch();
  void Forward();
  void Backward();
  void Optimize();
  void Linear(int64_t in, int64_t out);
  void Transpose(int64_t rows, int64_t columns);
  void DenseGraph(int layers);
  void LinearBackward(int64_t in, int64_t out);
  void Lookup(int table);
  void LookupBackward(int table);
  void Interact();
  void Accumulate(int64_t rows, int64_t columns);
  void AllToAll(int64_t elements);
  void AllReduce(int64_t elements);
  void CopyToDevice(int64_t rows, int64_t columns);

  void AddOrphans();
  size_t Call(std::string_view cuda_name, int cbid, int64_t nanoseconds);
  /// A call that puts `activity` on a stream `delay_ns` after it began.
  void LaunchActivity(size_t call, JobActivity activity, int64_t delay_ns,
                      int64_t nanoseconds);
  void Launch(KernelFamily family, int64_t elements);
  void AddActivity(JobActivity activity, int64_t nanoseconds);
  int64_t Random(int64_t low, int64_t high);
  void Pass(int64_t low_ns, int64_t high_ns);

  JobOptions options_;
  std::mt19937_64 random_;
  JobStep step_;
  int thread_ = kMainThread;
  std::array<int64_t, 2> now_ns_{};
  std::array<std::vector<size_t>, 2> open_{};  // Innermost last.
  std::map<int, int64_t> stream_free_ns_;
  int64_t next_id_ = 1;
  int64_t next_correlation_ = 0;
  int64_t sequence_ = 0;
  int64_t step_number_ = 0;
  size_t next_kernel_ = 0;
};

}  // namespace stepcast::testing

#endif  // STEPCAST_TESTS_TESTING_TRAINING_JOB_H_
