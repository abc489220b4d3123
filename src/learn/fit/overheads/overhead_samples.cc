#include "learn/fit/overheads/overhead_samples.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/minimize.h"
#include "base/stats.h"
#include "cost/kernels/family.h"
#include "ir/names.h"
#include "timeline/host_plan.h"
#include "timeline/predicted_plan.h"
#include "timeline/segment_key.h"
#include "timeline/silent_waits.h"

namespace stepcast::learn {

HostStep PriceStep(const ir::Graph& graph, const cost::KernelModels& models) {
  HostStep step;
  std::vector<ir::KernelShape> shapes;
  for (const ir::ActivityId id : graph.data().activities.ids()) {
    shapes.push_back(graph.shape(id));
  }
  std::vector<std::optional<cost::Estimate>> estimates(shapes.size());
  models.PriceAll(shapes, estimates);
  for (const auto& estimate : estimates) {
    step.activities_us += estimate ? estimate->p50_us : 0;
  }
  const timeline::HostPlan plan = timeline::OrderedPlan(graph.data());
  for (const auto& segments : plan.threads) {
    step.ops += static_cast<size_t>(std::ranges::count(
        segments, cost::HostKind::kBetweenOps, &timeline::HostSegment::kind));
  }
  return step;
}

double FitGap(std::span<const HostStep> steps) {
  // Least sum of ((activities + gap * ops) / measured - 1)^2.
  double numerator = 0;
  double denominator = 0;
  for (const HostStep& step : steps) {
    const double ops = static_cast<double>(step.ops) / step.measured_us;
    numerator += ops * (1 - step.activities_us / step.measured_us);
    denominator += ops * ops;
  }
  return denominator > 0 ? std::max(0.0, numerator / denominator) : 0;
}

cost::OverheadData GapTable(std::span<const HostStep> steps, double gap_us,
                            std::vector<std::string> provenance) {
  cost::OverheadData data;
  data.name = "host";
  data.provenance = std::move(provenance);
  int64_t gaps = 0;
  for (const HostStep& step : steps) {
    gaps += static_cast<int64_t>(step.ops);
  }
  const std::string all(cost::kPooledName);
  for (cost::OverheadRows& rows : data.parts) {
    rows[all] = {.count = gaps};
  }
  data[cost::OverheadPart::kBetweenOps][all] = {.count = gaps,
                                                .mean_us = gap_us,
                                                .p10_us = gap_us,
                                                .p50_us = gap_us,
                                                .p90_us = gap_us};
  return data;
}

namespace {

// The kernel starts this share of the floor after the first event. Fitted to
// the straight parts of the elementwise rows of five NVIDIA GPUs (0.46-0.64
// with the kernel's own latency in it) and of two by AMD (0.85-1.0).
constexpr double kLeadShare = 0.5;
constexpr double kAmdLeadShare = 0.75;
// Products go through a library that is called before the launch: 0.45-0.7.
constexpr double kGemmLeadShare = 0.6;
// The share of the rows that surely sit on the floor, and which of them: some
// short kernels take a longer way through the library.
constexpr double kShortestRows = 0.1;
constexpr double kFloorQuantile = 0.2;

double LeadShare(std::string_view op, const cost::Machine& machine) {
  if (op == "linear" || op == "bmm") {
    return kGemmLeadShare;
  }
  return machine.device.generation == hw::Generation::kCdna ? kAmdLeadShare
                                                            : kLeadShare;
}

}  // namespace

void FitLaunches(const KernelRows& rows, uint16_t gpu,
                 const cost::Machine& machine, cost::Profile& profile) {
  // By op: the formula's time and the measured one.
  std::map<std::string, std::vector<std::pair<double, double>>> ops;
  for (const KernelRow& row : rows.rows) {
    const cost::Family* family = cost::FindFamily(row.shape);
    if (row.gpu == gpu && row.timing == Timing::kEventOp && family != nullptr &&
        PartOf(row.shape) == Part::kFit) {
      ops[rows.ops[row.op]].emplace_back(
          family->base(row.shape, machine).time_us, row.time_us);
    }
  }
  constexpr size_t kFewestRows = 100;
  for (auto& [op, times] : ops) {
    if (times.size() < kFewestRows) {
      continue;
    }
    std::ranges::sort(times);
    std::vector<double> shortest;
    const auto count =
        static_cast<size_t>(kShortestRows * static_cast<double>(times.size()));
    for (size_t i = 0; i < count; ++i) {
      shortest.push_back(times[i].second);
    }
    const double floor = Quantile(shortest, kFloorQuantile);
    profile.launches[op] = {.floor_us = floor,
                            .lead_us = LeadShare(op, machine) * floor};
  }
}

void FitDrift(const DriftInput& input, bool scale_is_free,
              cost::LaunchCost& launch) {
  // lead, drift, power, and the kernels' common scale in log2.
  const auto loss = [&](std::span<const double> x) {
    if (x[0] < 0 || x[1] < 0 || x[2] < 0.3 || x[2] > 4) {
      return 1e9;
    }
    const double scale = scale_is_free ? std::exp2(x[3]) : 1.0;
    double sum = 0;
    for (size_t i = 0; i < input.time_us.size(); ++i) {
      const double estimate = x[0] + x[1] * std::pow(input.place[i], x[2]) +
                              scale * input.kernel_us[i];
      sum += std::abs(std::log(estimate / input.time_us[i]));
    }
    return sum;
  };
  std::vector<double> start = {50, 200, 1.4};
  if (scale_is_free) {
    start.push_back(0);
  }
  const std::vector<double> best =
      Minimize(loss, start, {.evaluations = 300, .first_step = 0.5});
  launch.lead_us = best[0];
  launch.drift_us = best[1];
  launch.drift_power = best[2];
  launch.floor_us = launch.lead_us;
}

namespace {

using cost::OverheadPart;
using timeline::HostSegment;

// Device work starts after its cause within this time, or something that the
// graph does not know kept it: another stream that filled the device, the end
// of the step before. In the recorded traces nine of ten launches on an idle
// stream take less than half of it.
constexpr Duration kMostDelay = std::chrono::microseconds(50);

class Adder {
 public:
  Adder(const ir::GraphData& data, uint32_t workload, OverheadSamples& samples,
        const std::function<bool(ir::RankId)>& wanted)
      : data_(data), workload_(workload), samples_(samples), wanted_(wanted) {}

  void AddHost(const timeline::HostPlan& plan);
  void AddDevice();

 private:
  void Add(OverheadPart part, const std::string& name, Duration time,
           uint32_t events) {
    samples_[part][name].push_back(
        {.us = ToMicroseconds(time), .events = events, .workload = workload_});
  }
  bool IsWanted(ir::RankId rank) const { return !wanted_ || wanted_(rank); }
  void AddBlocking(const HostSegment& segment, const std::string& name);
  void AddActivity(ir::ActivityId id);
  std::optional<Duration> EndOf(ir::ActivityId id) const {
    const auto& measured = data_.activities[id].measured;
    const auto start = ir::StartOf(measured);
    return start ? std::optional(*start + measured->duration) : std::nullopt;
  }

  const ir::GraphData& data_;
  const uint32_t workload_;
  OverheadSamples& samples_;
  const std::function<bool(ir::RankId)>& wanted_;
};

void Adder::AddBlocking(const HostSegment& segment, const std::string& name) {
  const Duration whole = data_.calls[segment.call].measured->duration;
  if (segment.tail == Duration{} && segment.duration == whole) {
    Add(OverheadPart::kCall, name, whole, segment.events);
  } else {
    Add(OverheadPart::kSyncTail, name, segment.tail, 0);
  }
}

void Adder::AddHost(const timeline::HostPlan& plan) {
  std::set<std::pair<ir::ThreadId, size_t>> silent;
  for (const timeline::SilentWait& wait :
       timeline::FindSilentWaits(data_, plan)) {
    silent.emplace(wait.thread, wait.segment);
  }
  for (const ir::ThreadId thread : data_.threads.ids()) {
    if (!IsWanted(data_.threads[thread].rank)) {
      continue;
    }
    const std::vector<timeline::SegmentKey> keys =
        timeline::KeysOf(data_, plan, thread);
    const std::vector<bool> opening =
        timeline::OpeningSegments(data_, plan, thread);
    const std::vector<HostSegment>& segments = plan.threads[thread];
    for (size_t i = 0; i < segments.size(); ++i) {
      if (opening[i] || silent.contains({thread, i})) {
        continue;
      }
      const std::string name = timeline::KeyText(data_, keys[i]);
      if (keys[i].word == timeline::KeyWord::kBlocking) {
        AddBlocking(segments[i], name);
      } else {
        Add(keys[i].part, name, segments[i].duration, segments[i].events);
      }
    }
  }
}

void Adder::AddActivity(ir::ActivityId id) {
  const ir::Activity& activity = data_.activities[id];
  const auto start = ir::StartOf(activity.measured);
  const auto call = activity.call.valid()
                        ? ir::StartOf(data_.calls[activity.call].measured)
                        : std::nullopt;
  if (!start || !call || *start < *call) {
    return;
  }
  OverheadPart part = OverheadPart::kLaunchLatency;
  Duration cause = *call;
  if (id.value > 0) {
    const ir::ActivityId previous{id.value - 1};
    const auto end = data_.activities[previous].stream == activity.stream
                         ? EndOf(previous)
                         : std::nullopt;
    if (end && *end > cause) {
      part = OverheadPart::kActivityGap;
      cause = *end;
    }
  }
  const auto first = std::ranges::lower_bound(data_.stream_waits, id, {},
                                              &ir::StreamWait::after);
  for (auto it = first; it != data_.stream_waits.end() && it->after == id;
       ++it) {
    const auto end = EndOf(it->before);
    if (end && *end > cause) {
      part = OverheadPart::kStreamWait;
      cause = *end;
    }
  }
  // After a cause that came shortly after the call, either may have been the
  // last; such activities show nothing.
  const bool clear =
      part == OverheadPart::kLaunchLatency || cause - *call > kMostDelay;
  if (clear && *start >= cause && *start - cause <= kMostDelay) {
    Add(part, std::string(ir::Name(activity.kind)), *start - cause, 0);
  }
}

void Adder::AddDevice() {
  for (const ir::ActivityId id : data_.activities.ids()) {
    if (IsWanted(data_.streams[data_.activities[id].stream].rank)) {
      AddActivity(id);
    }
  }
}

}  // namespace

size_t OverheadSamples::size() const {
  size_t count = 0;
  for (const ByName& part : parts) {
    for (const auto& [name, list] : part) {
      count += list.size();
    }
  }
  return count;
}

void AddSamples(const ir::GraphData& data, uint32_t workload,
                OverheadSamples& samples,
                const std::function<bool(ir::RankId)>& wanted) {
  Adder adder(data, workload, samples, wanted);
  adder.AddHost(timeline::MeasuredPlan(data));
  adder.AddDevice();
  for (const ir::RankId rank : data.ranks.ids()) {
    samples.steps += !wanted || wanted(rank) ? 1 : 0;
  }
}

}  // namespace stepcast::learn
