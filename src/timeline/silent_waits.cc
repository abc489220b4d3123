#include "timeline/silent_waits.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/stats.h"

namespace stepcast::timeline {
namespace {

// Host work between two events of a trace rarely takes so long; the segments of
// the recorded traces that do are waits, stalls of the data loader and calls
// that allocate.
constexpr Duration kLeast = std::chrono::milliseconds(1);
// The share of the segment in which the device must have been busy.
constexpr double kBusyShare = 0.9;
// The framework's range around fetching a batch that worker processes made.
constexpr std::string_view kLoader = "_MultiProcessingDataLoaderIter";

std::optional<Duration> EndOf(const std::optional<ir::Measured>& measured) {
  const auto start = ir::StartOf(measured);
  return start ? std::optional(*start + measured->duration) : std::nullopt;
}

class Finder {
 public:
  Finder(const ir::GraphData& data, const HostPlan& plan)
      : data_(data), plan_(plan), activities_(data.ranks.size()) {
    for (const ir::ActivityId id : data.activities.ids()) {
      if (EndOf(data.activities[id].measured)) {
        activities_[data.streams[data.activities[id].stream].rank].push_back(
            id);
      }
    }
  }

  std::vector<SilentWait> Find();

 private:
  std::optional<Duration> SegmentEnd(ir::ThreadId thread, size_t segment) const;
  bool IsFetched(ir::OpId op) const;
  std::optional<ir::ActivityId> WaitedFor(ir::RankId rank, Duration begin,
                                          Duration end) const;

  const ir::GraphData& data_;
  const HostPlan& plan_;
  IdVector<ir::RankId, std::vector<ir::ActivityId>> activities_;
};

// Segments do not carry their times; what they end at does.
std::optional<Duration> Finder::SegmentEnd(ir::ThreadId thread,
                                           size_t segment) const {
  const std::vector<HostSegment>& segments = plan_.threads[thread];
  const HostSegment& at = segments[segment];
  const HostSegment* next =
      segment + 1 < segments.size() ? &segments[segment + 1] : nullptr;
  switch (at.kind) {
    case cost::HostKind::kCall:
      return EndOf(data_.calls[at.call].measured);
    case cost::HostKind::kAfterLaunch:
    case cost::HostKind::kNoLaunch:
      return EndOf(data_.ops[at.op].measured);
    case cost::HostKind::kHandoff:
      return std::nullopt;
    default:
      break;
  }
  if (next != nullptr && next->kind == cost::HostKind::kCall) {
    return ir::StartOf(data_.calls[next->call].measured);
  }
  if (at.op.valid()) {
    return ir::StartOf(data_.ops[at.op].measured);
  }
  const auto& step = data_.ranks[data_.threads[thread].rank].step;
  return step ? std::optional(step->duration) : std::nullopt;
}

// Whether an op unpacks what another process loaded.
bool Finder::IsFetched(ir::OpId op) const {
  if (!op.valid()) {
    return false;
  }
  const ir::OpId parent = data_.ops[op].parent;
  return parent.valid() &&
         data_.strings.view(data_.ops[parent].name).find(kLoader) !=
             std::string_view::npos;
}

// The last activity to end in [begin, end), if the device was busy for it.
std::optional<ir::ActivityId> Finder::WaitedFor(ir::RankId rank, Duration begin,
                                                Duration end) const {
  std::vector<Interval> busy;
  std::optional<ir::ActivityId> last;
  for (const ir::ActivityId id : activities_[rank]) {
    const auto& measured = data_.activities[id].measured;
    const Duration activity_begin = *measured->start;
    const Duration activity_end = activity_begin + measured->duration;
    if (activity_end > begin && activity_begin < end) {
      busy.push_back(
          {std::max(activity_begin, begin), std::min(activity_end, end)});
    }
    if (activity_end > begin && activity_end <= end &&
        (!last || activity_end > *EndOf(data_.activities[*last].measured))) {
      last = id;
    }
  }
  const auto needed = Duration(static_cast<int64_t>(
      kBusyShare * static_cast<double>((end - begin).count())));
  return TotalLength(Union(std::move(busy))) >= needed ? last : std::nullopt;
}

std::vector<SilentWait> Finder::Find() {
  std::vector<SilentWait> waits;
  for (const ir::ThreadId thread : data_.threads.ids()) {
    const std::vector<HostSegment>& segments = plan_.threads[thread];
    for (uint32_t i = 0; i < segments.size(); ++i) {
      const HostSegment& segment = segments[i];
      if (segment.awaited.valid()) {
        waits.push_back(
            {.thread = thread, .segment = i, .activity = segment.awaited});
        continue;
      }
      const auto end =
          segment.duration >= kLeast ? SegmentEnd(thread, i) : std::nullopt;
      if (!end) {
        continue;
      }
      if (segment.kind == cost::HostKind::kBetweenOps &&
          IsFetched(segment.op)) {
        waits.push_back({.thread = thread, .segment = i, .activity = {}});
      } else if (const auto activity =
                     WaitedFor(data_.threads[thread].rank,
                               *end - segment.duration, *end)) {
        waits.push_back(
            {.thread = thread, .segment = i, .activity = *activity});
      }
    }
  }
  return waits;
}

}  // namespace

std::vector<SilentWait> FindSilentWaits(const ir::GraphData& data,
                                        const HostPlan& measured) {
  return Finder(data, measured).Find();
}

}  // namespace stepcast::timeline
