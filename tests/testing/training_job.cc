#include "tests/testing/training_job.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"

namespace stepcast::testing {
namespace {

std::string DimsText(
    std::initializer_list<std::initializer_list<int64_t>> all) {
  std::string text = "[";
  for (const auto& shape : all) {
    fmt::format_to(std::back_inserter(text), "{}[{}]",
                   text.size() == 1 ? "" : ", ", fmt::join(shape, ", "));
  }
  return text + "]";
}

// Tensors with dimensions are floats, those without are scalars.
std::string TypesText(
    std::initializer_list<std::initializer_list<int64_t>> all) {
  std::string text = "[";
  for (const auto& shape : all) {
    text += text.size() == 1 ? "" : ", ";
    text += shape.size() == 0 ? "\"Scalar\"" : "\"float\"";
  }
  return text + "]";
}

std::string_view HipCallName(std::string_view cuda_name) {
  using Row = std::pair<std::string_view, std::string_view>;
  constexpr std::array kNames = {
      Row{"cudaLaunchKernel", "hipLaunchKernel"},
      Row{"cudaMemcpyAsync", "hipMemcpyWithStream"},
      Row{"cudaMemsetAsync", "hipMemsetAsync"},
      Row{"cudaGraphLaunch", "hipGraphLaunch"},
      Row{"cudaStreamSynchronize", "hipStreamSynchronize"},
      Row{"cudaEventQuery", "hipEventQuery"},
      Row{"cudaPeekAtLastError", "hipPeekAtLastError"},
  };
  const auto* row = std::ranges::find(kNames, cuda_name, &Row::first);
  CHECK(row != kNames.end()) << cuda_name;
  return row->second;
}

}  // namespace

TrainingJob::TrainingJob(const JobOptions& options)
    : options_(options), random_(options.seed) {
  // Long enough after the epoch to have all the digits of a real clock, and
  // inside the range that every dialect can hold.
  now_ns_.fill(1'000'000'000);
  next_correlation_ = 1 + static_cast<int64_t>(options.seed % 1000) * 7;
}

JobStep TrainingJob::Next() {
  step_ = JobStep();
  thread_ = kMainThread;
  if (step_number_ == 0) {
    AddOrphans();
  }
  {
    const Scope step = Annotate(fmt::format("ProfilerStep#{}", step_number_));
    LoadBatch();
    Forward();
    Backward();
    Optimize();
  }
  ++step_number_;
  Pass(20'000, 60'000);
  return std::move(step_);
}

TrainingJob::Scope TrainingJob::Enter(std::string_view name,
                                      std::initializer_list<Shape> shapes) {
  const size_t event = Open(JobEventKind::kOp, name);
  if (shapes.size() > 0) {
    step_.host[event].dims = DimsText(shapes);
    step_.host[event].types = TypesText(shapes);
  }
  return {*this, event};
}

TrainingJob::Scope TrainingJob::Annotate(std::string_view name) {
  return {*this, Open(JobEventKind::kAnnotation, name)};
}

TrainingJob::Scope TrainingJob::Frame(std::string_view name) {
  return {*this,
          options_.python ? Open(JobEventKind::kPython, name) : kNotRecorded};
}

size_t TrainingJob::Open(JobEventKind kind, std::string_view name) {
  Pass(300, 1'800);
  auto& open = open_[static_cast<size_t>(thread_)];
  step_.host.push_back(
      {.name = std::string(name),
       .kind = kind,
       .thread = thread_,
       .start_ns = now_ns_[static_cast<size_t>(thread_)],
       .id = next_id_++,
       .parent = open.empty() ? -1 : static_cast<int64_t>(open.back())});
  open.push_back(step_.host.size() - 1);
  return open.back();
}

void TrainingJob::Close(size_t event) {
  if (event == kNotRecorded) {
    return;
  }
  Pass(200, 1'500);
  JobHostEvent& closed = step_.host[event];
  closed.end_ns = now_ns_[static_cast<size_t>(closed.thread)];
  open_[static_cast<size_t>(closed.thread)].pop_back();
}

void TrainingJob::AddOrphans() {
  for (int i = 0; i < options_.orphans; ++i) {
    AddActivity({.name = KernelName(KernelFamily::kOptimizer, next_kernel_++),
                 .stream = kComputeStream,
                 .start_ns = now_ns_[kMainThread],
                 .correlation = next_correlation_++,
                 .grid = 160},
                Random(1'500, 9'000));
  }
}

size_t TrainingJob::Call(std::string_view cuda_name, int cbid,
                         int64_t nanoseconds) {
  Pass(200, 900);
  const auto thread = static_cast<size_t>(thread_);
  const auto& open = open_[thread];
  const int64_t start = now_ns_[thread];
  now_ns_[thread] += nanoseconds;
  step_.calls.push_back(
      {.name = options_.hip ? HipCallName(cuda_name) : cuda_name,
       .cbid = cbid,
       .thread = thread_,
       .start_ns = start,
       .end_ns = now_ns_[thread],
       .correlation = next_correlation_,
       .op = open.empty() ? -1 : static_cast<int64_t>(open.back())});
  next_correlation_ += Random(1, 9);
  return step_.calls.size() - 1;
}

void TrainingJob::LaunchActivity(size_t call, JobActivity activity,
                                 int64_t delay_ns, int64_t nanoseconds) {
  JobCall& launch = step_.calls[call];
  launch.launches = true;
  activity.start_ns = launch.start_ns + delay_ns;
  activity.correlation = launch.correlation;
  activity.call = static_cast<int64_t>(call);
  AddActivity(activity, nanoseconds);
}

void TrainingJob::Launch(KernelFamily family, int64_t elements) {
  const size_t call = Call("cudaLaunchKernel", 211, Random(3'500, 8'000));
  const bool collective =
      family == KernelFamily::kAllToAll || family == KernelFamily::kAllReduce;
  const size_t which = next_kernel_++;
  const int64_t delay = Random(5'000, 7'000);
  const int64_t duration = 2'000 + elements / 100 + Random(0, 1'500);
  LaunchActivity(call,
                 {.name = options_.hip ? HipKernelName(family, which)
                                       : KernelName(family, which),
                  .stream = collective ? kCommunicationStream : kComputeStream,
                  .grid = 1 + elements / 512},
                 delay, duration);
}

// Activity starts when it was launched and the stream is free.
void TrainingJob::AddActivity(JobActivity activity, int64_t nanoseconds) {
  int64_t& free = stream_free_ns_[activity.stream];
  activity.start_ns = std::max(activity.start_ns, free);
  activity.end_ns = activity.start_ns + nanoseconds;
  free = activity.end_ns + Random(800, 1'600);
  step_.activities.push_back(activity);
}

int64_t TrainingJob::Random(int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random_() %
                                    static_cast<uint64_t>(high - low + 1));
}

void TrainingJob::Pass(int64_t low_ns, int64_t high_ns) {
  now_ns_[static_cast<size_t>(thread_)] += Random(low_ns, high_ns);
}

}  // namespace stepcast::testing
