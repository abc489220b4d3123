#include "engine/explain/traffic.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <variant>

#include "base/stats.h"
#include "cost/collectives/load.h"
#include "engine/explain/kernel_rates.h"

namespace stepcast::engine {
namespace {

double SumOf(std::span<const int64_t> splits) {
  double sum = 0;
  for (const int64_t split : splits) {
    sum += static_cast<double>(split);
  }
  return sum;
}

// Bytes that a rank sends to each peer; nothing if that is not known.
std::vector<double> SentBy(const ir::Collective& part, int64_t ranks) {
  const auto size = static_cast<double>(ir::SizeOf(part.dtype));
  std::vector<double> sent;
  if (!part.send_splits.empty() && size > 0) {
    for (const int64_t split : part.send_splits) {
      sent.push_back(size * static_cast<double>(split));
    }
  } else if (ranks > 0) {
    sent.assign(
        static_cast<size_t>(ranks),
        static_cast<double>(part.bytes.count) / static_cast<double>(ranks));
  }
  return sent;
}

// The buffer as benchmarks count it, as far as one rank's part says.
double BufferBytes(const ir::Collective& part, int64_t ranks) {
  const auto bytes = static_cast<double>(part.bytes.count);
  switch (part.kind) {
    case ir::CollectiveKind::kAllGather:
      return bytes * static_cast<double>(ranks);
    case ir::CollectiveKind::kAllToAll: {
      const auto size = static_cast<double>(ir::SizeOf(part.dtype));
      return std::max({bytes, size * SumOf(part.send_splits),
                       size * SumOf(part.receive_splits)});
    }
    case ir::CollectiveKind::kBarrier:
      return 0;
    default:
      return bytes;
  }
}

class TrafficMeter {
 public:
  explicit TrafficMeter(const StepResult& result)
      : result_(result),
        data_(result.graph->data()),
        launched_(LaunchedByStep(data_)) {}

  Traffic Measure();

 private:
  // Activities of a stream, in all repeats, within the step.
  struct Run {
    Duration launched{};
    Duration start{};
    Duration run{};
    Duration end{};
  };

  const sim::Placement* PlacementOf(ir::ActivityId id) const;
  int64_t NumberOf(ir::ActivityId id) const {
    return data_.ranks[data_.streams[data_.activities[id].stream].rank].number;
  }
  void AddCollective(std::span<const ir::ActivityId> members,
                     ir::CollectiveId id);
  void AddArrival(std::span<const ir::ActivityId> members);
  void AddAllToAll(std::span<const ir::ActivityId> members, int64_t ranks);
  void GroupSizes();
  void TakeRuns();
  void AddOverlap();
  void AddQueue(ir::StreamId id, std::span<const Run> runs);

  const StepResult& result_;
  const ir::GraphData& data_;
  const IdVector<ir::ActivityId, char> launched_;
  Traffic traffic_;
  std::map<std::pair<int64_t, int64_t>, double> sent_;  // By rank and peer.
  // By rank: intervals of active collectives, and of kernels.
  std::vector<std::vector<Interval>> working_;
  std::vector<std::vector<Interval>> kernels_;
};

const sim::Placement* TrafficMeter::PlacementOf(ir::ActivityId id) const {
  const sim::TaskId task = result_.lowered.activity_tasks[id];
  return task.valid() ? &result_.schedule.placements[task] : nullptr;
}

void TrafficMeter::AddCollective(std::span<const ir::ActivityId> members,
                                 ir::CollectiveId id) {
  CollectiveRate rate{.id = id, .rank = NumberOf(members.front())};
  const auto count = static_cast<int64_t>(members.size());
  for (const ir::ActivityId member : members) {
    const sim::Placement* placement = PlacementOf(member);
    const auto* part = std::get_if<ir::Collective>(
        &data_.shapes[data_.activities[member].shape]);
    if (placement == nullptr || part == nullptr) {
      return;
    }
    rate.kind = part->kind;
    rate.ranks = std::max({rate.ranks, part->group_size, count});
    rate.bytes = std::max(rate.bytes, BufferBytes(*part, rate.ranks));
    rate.own = std::max(rate.own, placement->end - placement->run);
    rate.start = member == members.front()
                     ? placement->start
                     : std::min(rate.start, placement->start);
  }
  rate.waits = rate.ranks > count;
  if (rate.kind == ir::CollectiveKind::kAllToAll) {
    AddAllToAll(members, rate.ranks);
  }
  traffic_.collectives.push_back(rate);
}

void TrafficMeter::AddArrival(std::span<const ir::ActivityId> members) {
  Duration first = Duration::max();
  Duration last = Duration::min();
  ir::ActivityId latest{};
  for (const ir::ActivityId member : members) {
    const sim::Placement* placement = PlacementOf(member);
    if (placement == nullptr) {
      return;
    }
    first = std::min(first, placement->start);
    if (placement->start > last) {
      last = placement->start;
      latest = member;
    }
  }
  for (const ir::ActivityId member : members) {
    const ir::RankId rank = data_.streams[data_.activities[member].stream].rank;
    RankTraffic& traffic = traffic_.ranks[rank.value];
    ++traffic.matched;
    if (member == latest) {
      ++traffic.last;
      traffic.made_wait += last - first;
      traffic.longest_wait = std::max(traffic.longest_wait, last - first);
    }
  }
}

// Which peer a split is for: with all members recorded they are in rank order,
// and a group as large as the job is all of it.
void TrafficMeter::AddAllToAll(std::span<const ir::ActivityId> members,
                               int64_t ranks) {
  AllToAllBytes& all = traffic_.all_to_all;
  const bool complete = std::ssize(members) == ranks;
  const bool even = std::ranges::any_of(members, [&](ir::ActivityId member) {
    return std::get<ir::Collective>(
               data_.shapes[data_.activities[member].shape])
        .send_splits.empty();
  });
  all.even += even ? 1 : 0;
  all.left_out += complete || members.size() == 1 ? 0 : 1;
  for (const ir::ActivityId member : members) {
    const std::vector<double> sent = SentBy(
        std::get<ir::Collective>(data_.shapes[data_.activities[member].shape]),
        ranks);
    for (size_t peer = 0; peer < sent.size(); ++peer) {
      const int64_t to = complete && peer < members.size()
                             ? NumberOf(members[peer])
                             : static_cast<int64_t>(peer);
      sent_[{NumberOf(member), to}] += sent[peer];
    }
  }
}

void TrafficMeter::GroupSizes() {
  std::map<std::tuple<ir::CollectiveKind, int64_t, double>, CollectiveSizes>
      groups;
  for (const CollectiveRate& rate : traffic_.collectives) {
    if (!rate.known()) {
      continue;
    }
    CollectiveSizes& group = groups[{rate.kind, rate.ranks, rate.bytes}];
    group.kind = rate.kind;
    group.ranks = rate.ranks;
    group.bytes = rate.bytes;
    group.shortest =
        group.count == 0 ? rate.own : std::min(group.shortest, rate.own);
    group.waits = group.waits || rate.waits;
    group.own += rate.own;
    ++group.count;
    group.best_bus_gbs = std::max(group.best_bus_gbs, rate.bus_gbs());
  }
  for (auto& [key, group] : groups) {
    const double factor =
        cost::WirePerByte(group.kind, static_cast<int>(group.ranks));
    group.algorithm_gbs = group.bytes * static_cast<double>(group.count) /
                          static_cast<double>(group.own.count());
    group.bus_gbs = group.algorithm_gbs * factor;
    traffic_.sizes.push_back(group);
  }
}

// A stream's queue over time: launches add to those waiting, starts take from
// them.
class QueueLine {
 public:
  QueueLine(StepSpan span, StreamQueue& queue)
      : span_(span), length_(span.end - span.begin), queue_(queue) {
    queue_.waiting.assign(kQueueSlices, 0);
  }

  // The state from the last change until `at`.
  void Advance(Duration at) {
    at = std::clamp(at, span_.begin, span_.end);
    const Duration time = at - now_;
    if (time > Duration{}) {
      waiting_time_ += time * waiting_;
      none_ += waiting_ == 0 ? time : Duration{};
      empty_ += waiting_ == 0 && running_ == 0 ? time : Duration{};
      queue_.most_waiting = std::max(queue_.most_waiting, waiting_);
      for (size_t i = SliceOf(now_); i <= SliceOf(at - Duration(1)); ++i) {
        queue_.waiting[i] = std::max(queue_.waiting[i], waiting_);
      }
    }
    now_ = at;
  }
  void Change(Duration at, int waiting, int running) {
    Advance(at);
    waiting_ += waiting;
    running_ += running;
  }
  void Finish() {
    Advance(span_.end);
    const auto length = static_cast<double>(length_.count());
    queue_.mean_waiting = static_cast<double>(waiting_time_.count()) / length;
    queue_.none_waiting = static_cast<double>(none_.count()) / length;
    queue_.empty = static_cast<double>(empty_.count()) / length;
  }

 private:
  size_t SliceOf(Duration at) const {
    const double share = static_cast<double>((at - span_.begin).count()) /
                         static_cast<double>(length_.count());
    return std::min(kQueueSlices - 1,
                    static_cast<size_t>(share * kQueueSlices));
  }

  const StepSpan span_;
  const Duration length_;
  StreamQueue& queue_;
  Duration now_ = span_.begin;
  int64_t waiting_ = 0;
  int64_t running_ = 0;
  Duration waiting_time_{};  // Sum over those that wait.
  Duration none_{};
  Duration empty_{};
};

void TrafficMeter::AddQueue(ir::StreamId id, std::span<const Run> runs) {
  const ir::Stream& stream = data_.streams[id];
  const StepSpan span = result_.spans[stream.rank.value];
  StreamQueue queue{.rank = data_.ranks[stream.rank].number,
                    .device = stream.device,
                    .stream = stream.number};
  struct Change {
    Duration at{};
    int waiting = 0;
    int running = 0;
  };
  std::vector<Change> changes;
  for (const Run& run : runs) {
    if (run.end > span.begin && run.launched < span.end) {
      ++queue.launched;
      changes.push_back({run.launched, 1, 0});
      changes.push_back({run.start, -1, 1});
      changes.push_back({run.end, 0, -1});
    }
  }
  if (queue.launched == 0 || span.end <= span.begin) {
    return;
  }
  std::ranges::stable_sort(changes, {}, &Change::at);
  QueueLine line(span, queue);
  for (const Change& change : changes) {
    line.Change(change.at, change.waiting, change.running);
  }
  line.Finish();
  traffic_.queues.push_back(std::move(queue));
}

void TrafficMeter::TakeRuns() {
  const timeline::Lowered& lowered = result_.lowered;
  IdVector<ir::StreamId, std::vector<Run>> runs(data_.streams.size());
  working_.resize(data_.ranks.size());
  kernels_.resize(data_.ranks.size());
  for (const sim::TaskId task : lowered.origins.ids()) {
    const timeline::TaskOrigin& origin = lowered.origins[task];
    if (origin.kind != timeline::TaskOrigin::Kind::kActivity) {
      continue;
    }
    const ir::Activity& activity = data_.activities[origin.activity];
    const sim::Placement& placement = result_.schedule.placements[task];
    Run run{.launched = placement.start,
            .start = placement.start,
            .run = placement.run,
            .end = placement.end};
    for (const sim::Dependency& wait : lowered.tasks.waits(task)) {
      if (wait.kind == static_cast<uint8_t>(timeline::Wait::kLaunch)) {
        // The end of what the host did before the call.
        run.launched = std::min(run.launched,
                                result_.schedule.placements[wait.before].end);
      }
    }
    runs[activity.stream].push_back(run);
    const uint32_t rank = data_.streams[activity.stream].rank.value;
    const StepSpan span = result_.spans[rank];
    const Interval within{std::max(run.run, span.begin),
                          std::min(run.end, span.end)};
    if (within.start < within.end) {
      if (activity.kind == ir::ActivityKind::kCollective) {
        working_[rank].push_back(within);
      } else if (activity.kind == ir::ActivityKind::kKernel) {
        kernels_[rank].push_back(within);
      }
    }
  }
  for (const ir::StreamId stream : data_.streams.ids()) {
    AddQueue(stream, runs[stream]);
  }
}

void TrafficMeter::AddOverlap() {
  for (size_t i = 0; i < traffic_.ranks.size(); ++i) {
    const std::vector<Interval> working = Union(std::move(working_[i]));
    const std::vector<Interval> kernels = Union(std::move(kernels_[i]));
    RankTraffic& rank = traffic_.ranks[i];
    rank.collectives = TotalLength(working);
    size_t next = 0;
    for (const Interval& interval : working) {
      while (next < kernels.size() && kernels[next].end <= interval.start) {
        ++next;
      }
      for (size_t k = next;
           k < kernels.size() && kernels[k].start < interval.end; ++k) {
        rank.hidden += std::min(kernels[k].end, interval.end) -
                       std::max(kernels[k].start, interval.start);
      }
    }
  }
}

// The bytes by rank and peer as rows.
void FillMatrix(const std::map<std::pair<int64_t, int64_t>, double>& sent,
                AllToAllBytes& all) {
  for (const auto& [pair, bytes] : sent) {
    if (all.ranks.empty() || all.ranks.back() != pair.first) {
      all.ranks.push_back(pair.first);
    }
    all.peers.push_back(pair.second);
  }
  std::ranges::sort(all.peers);
  all.peers.erase(std::unique(all.peers.begin(), all.peers.end()),
                  all.peers.end());
  for (const int64_t rank : all.ranks) {
    std::vector<double>& row = all.sent.emplace_back();
    double sum = 0;
    for (const int64_t peer : all.peers) {
      const auto found = sent.find({rank, peer});
      row.push_back(found == sent.end() ? 0 : found->second);
      sum += row.back();
    }
    all.sum.push_back(sum);
  }
}

Traffic TrafficMeter::Measure() {
  for (const RankAccount& account : result_.accounts) {
    traffic_.ranks.push_back({.rank = account.rank});
  }
  for (const ir::CollectiveId id : data_.collectives.ids()) {
    const auto& members = data_.collectives[id].activities;
    if (!members.empty()) {
      AddCollective(members, id);
      if (members.size() > 1) {
        AddArrival(members);
      }
    }
  }
  for (const ir::ActivityId id : data_.activities.ids()) {
    const ir::Activity& activity = data_.activities[id];
    if (activity.kind == ir::ActivityKind::kCollective &&
        !activity.collective.valid() && launched_[id] != 0) {
      AddCollective(std::span(&id, 1), {});
    }
  }
  std::ranges::stable_sort(traffic_.collectives, {}, &CollectiveRate::start);
  GroupSizes();
  TakeRuns();
  AddOverlap();
  FillMatrix(sent_, traffic_.all_to_all);
  return std::move(traffic_);
}

}  // namespace

double CollectiveRate::algorithm_gbs() const {
  return bytes / static_cast<double>(own.count());
}

double CollectiveRate::bus_gbs() const {
  return algorithm_gbs() * cost::WirePerByte(kind, static_cast<int>(ranks));
}

Traffic MeasureTraffic(const StepResult& result) {
  return TrafficMeter(result).Measure();
}

}  // namespace stepcast::engine
