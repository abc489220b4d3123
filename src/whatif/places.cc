#include "whatif/places.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text/join.h"
#include "engine/explain/path_parts.h"
#include "ir/names.h"
#include "timeline/host_plan.h"
#include "whatif/step_editor.h"

namespace stepcast::whatif {
namespace {

using timeline::TaskOrigin;

// What the profiler puts around everything says nothing of the place.
constexpr std::string_view kProfilerStep = "ProfilerStep";

// The annotation around an op that is closest to it; invalid if there is none.
ir::OpId AnnotationAround(const ir::Graph& graph, ir::OpId op) {
  const ir::GraphData& data = graph.data();
  while (op.valid() &&
         (data.ops[op].kind != ir::OpKind::kAnnotation ||
          graph.text(data.ops[op].name).starts_with(kProfilerStep))) {
    op = data.ops[op].parent;
  }
  return op;
}

// " in ## forward ##"
std::string AroundText(const ir::Graph& graph, ir::OpId op) {
  const ir::OpId around = AnnotationAround(graph, op);
  return around.valid()
             ? fmt::format(" in {}", engine::ShortOpName(graph.text(
                                         graph.data().ops[around].name)))
             : "";
}

// " at train.py(12): step": the function of the program that called the op,
// where Python's stack was recorded.
std::string SiteText(const ir::Graph& graph, ir::OpId op) {
  const ir::GraphData& data = graph.data();
  while (op.valid() && graph.text(data.ops[op].site).empty()) {
    op = data.ops[op].parent;
  }
  return op.valid() ? fmt::format(" at {}", graph.text(data.ops[op].site)) : "";
}

// Sums by name, and by rank.
class PlaceSums {
 public:
  explicit PlaceSums(size_t ranks) : ranks_(ranks) {}

  void Add(std::string_view name, const std::string& path, ir::RankId rank,
           Duration time) {
    Sum& sum = sums_[std::string(name)];
    sum.ranks.resize(ranks_);
    Place& place = sum.ranks[rank.value];
    if (place.times == 0 || time > sum.longest) {
      place.path = path;
      sum.longest = time;
    }
    place.time += time;
    ++place.times;
  }

  // The longest first; of places that take as long by name.
  std::vector<Place> Sorted() const {
    std::vector<Place> places;
    for (const auto& [name, sum] : sums_) {
      Place longest;
      for (const Place& place : sum.ranks) {
        if (longest.times == 0 || place.time > longest.time) {
          longest = place;
        }
      }
      longest.name = name;
      places.push_back(std::move(longest));
    }
    std::ranges::stable_sort(places, std::greater<>(), &Place::time);
    return places;
  }

 private:
  struct Sum {
    std::vector<Place> ranks;
    Duration longest{};  // Of all that has been added.
  };
  size_t ranks_ = 0;
  std::map<std::string, Sum> sums_;
};

// Of a call, from when it was ready to return until it did, in the last repeat.
std::map<std::pair<ir::ThreadId, uint32_t>, Duration> WaitTimes(
    const engine::StepResult& result) {
  const auto repeats = static_cast<uint32_t>(result.lowered.rank_ends.size());
  std::map<std::pair<ir::ThreadId, uint32_t>, Duration> ends;
  std::map<std::pair<ir::ThreadId, uint32_t>, Duration> waits;
  for (const sim::TaskId task : result.lowered.origins.ids()) {
    const TaskOrigin& origin = result.lowered.origins[task];
    if (origin.repeat + 1 != repeats) {
      continue;
    }
    const sim::Placement& placed = result.schedule.placements[task];
    const std::pair key(origin.thread, origin.segment);
    if (origin.kind == TaskOrigin::Kind::kSegment) {
      ends[key] = placed.end;
    } else if (origin.kind == TaskOrigin::Kind::kReturn) {
      waits[key] = placed.start;
    }
  }
  for (auto& [key, time] : waits) {
    time = std::max(time - ends[key], Duration{});
  }
  return waits;
}

// What one op or kernel gives up on the host or on the device.
using Savings = std::map<std::string, double>;

constexpr size_t kMostNames = 3;
// Less would be shown as 0.000 ms.
constexpr double kLeastShown = 500;
constexpr double kNanosecondsPerMs = 1e6;

std::string SavingsText(std::string_view where, const Savings& savings,
                        const std::set<ir::Phase>& phases) {
  std::vector<std::pair<double, std::string>> sorted;
  for (const auto& [name, time] : savings) {
    if (time >= kLeastShown) {
      sorted.emplace_back(time, name);
    }
  }
  std::ranges::stable_sort(sorted, std::greater<>(),
                           &std::pair<double, std::string>::first);
  std::vector<std::string> texts;
  for (size_t i = 0; i < sorted.size() && i < kMostNames; ++i) {
    texts.push_back(fmt::format("{} {:.3f} ms", sorted[i].second,
                                sorted[i].first / kNanosecondsPerMs));
  }
  if (sorted.size() > kMostNames) {
    texts.push_back(fmt::format("{} more", sorted.size() - kMostNames));
  }
  if (texts.empty()) {
    return "";
  }
  std::vector<std::string_view> names;
  for (const ir::Phase phase : phases) {
    if (phase != ir::Phase::kUnknown) {
      names.push_back(ir::Name(phase));
    }
  }
  return fmt::format(
      "{}: {}{}", where, Join(texts, ", "),
      names.empty() ? "" : fmt::format(" ({})", Join(names, ", ")));
}

class ChangeFinder {
 public:
  ChangeFinder(const Case& before, const Case& after, ir::RankId rank)
      : before_(before),
        after_(after),
        graph_(*before.result.graph),
        data_(graph_.data()),
        tops_(timeline::TopLevelOps(data_)),
        rank_(rank) {
    AddActivities();
    AddSegments();
  }

  double total() const { return std::max(host_total_, device_total_); }
  /// Of the host or of the GPU, whichever saves more.
  std::string Text() const;

 private:
  // The top-level op, with the time before it; of activities without one their
  // own name.
  std::string NameOf(ir::OpId op, StringId otherwise) const {
    const ir::OpId top = op.valid() ? tops_[op] : op;
    return top.valid() ? engine::ShortOpName(graph_.text(data_.ops[top].name))
                       : engine::ShortActivityName(graph_.text(otherwise));
  }
  void AddActivities();
  void AddSegments();
  void AddSegments(ir::ThreadId thread);

  const Case& before_;
  const Case& after_;
  const ir::Graph& graph_;
  const ir::GraphData& data_;
  const IdVector<ir::OpId, ir::OpId> tops_;
  const ir::RankId rank_;
  Savings device_;
  Savings host_;
  double device_total_ = 0;
  double host_total_ = 0;
  std::set<ir::Phase> device_phases_;
  std::set<ir::Phase> host_phases_;
};

void ChangeFinder::AddActivities() {
  for (const ir::ActivityId id : data_.activities.ids()) {
    const ir::Activity& activity = data_.activities[id];
    if (data_.streams[activity.stream].rank != rank_) {
      continue;
    }
    const EditedActivity& after = after_.times.activities[id];
    const double saved = before_.times.activities[id].duration -
                         (after.dropped ? 0 : after.duration);
    if (saved != 0) {
      const ir::OpId op =
          activity.call.valid() ? data_.calls[activity.call].op : ir::OpId{};
      device_[NameOf(op, activity.name)] += saved;
      device_total_ += saved;
      device_phases_.insert(PhaseOf(data_, id));
    }
  }
}

void ChangeFinder::AddSegments(ir::ThreadId thread) {
  const auto& segments = before_.result.plan.threads[thread];
  for (uint32_t i = 0; i < segments.size(); ++i) {
    const double saved = before_.times.segments[thread][i].duration -
                         after_.times.segments[thread][i].duration;
    if (saved != 0) {
      host_[segments[i].op.valid() ? NameOf(segments[i].op, {})
                                   : std::string("between ops")] += saved;
      host_total_ += saved;
      host_phases_.insert(PhaseOf(data_, segments[i].op));
    }
  }
}

void ChangeFinder::AddSegments() {
  for (const ir::ThreadId thread : data_.threads.ids()) {
    if (data_.threads[thread].rank == rank_) {
      AddSegments(thread);
    }
  }
}

std::string ChangeFinder::Text() const {
  const std::string rank =
      data_.ranks.size() > 1
          ? fmt::format("rank {}, ", data_.ranks[rank_].number)
          : "";
  return host_total_ > device_total_
             ? SavingsText(rank + "host", host_, host_phases_)
             : SavingsText(rank + "GPU", device_, device_phases_);
}

}  // namespace

std::vector<Place> PlacesThatWait(const Case& subject) {
  const ir::Graph& graph = *subject.result.graph;
  const ir::GraphData& data = graph.data();
  const IdVector<ir::OpId, ir::OpId> tops = timeline::TopLevelOps(data);
  PlaceSums sums(data.ranks.size());
  for (const auto& [key, time] : WaitTimes(subject.result)) {
    const ir::CallId call =
        subject.result.plan.threads[key.first][key.second].call;
    if (!call.valid() || ir::WaitsOf(data, call).empty()) {
      continue;
    }
    const std::string_view name = graph.text(data.calls[call].name);
    const ir::OpId op = data.calls[call].op;
    const ir::OpId top = op.valid() ? tops[op] : op;
    const ir::RankId rank = data.threads[key.first].rank;
    if (top.valid()) {
      const std::string_view op_name = graph.text(data.ops[top].name);
      const std::string short_name = engine::ShortOpName(op_name);
      sums.Add(short_name,
               fmt::format("{}{}{}, {}", short_name,
                           AroundText(graph, data.ops[top].parent),
                           SiteText(graph, top), name),
               rank, time);
    } else {
      sums.Add(name, fmt::format("{}{}", name, AroundText(graph, op)), rank,
               time);
    }
  }
  return sums.Sorted();
}

std::vector<Place> PlacesThatLoad(const Case& subject) {
  const ir::Graph& graph = *subject.result.graph;
  const ir::GraphData& data = graph.data();
  // The outermost op of the phase around each op.
  IdVector<ir::OpId, ir::OpId> loaders(data.ops.size());
  for (const ir::OpId id : data.ops.ids()) {  // Parents come first.
    const ir::Op& op = data.ops[id];
    const ir::OpId outer = op.parent.valid() ? loaders[op.parent] : ir::OpId{};
    if (op.phase == ir::Phase::kDataLoading ||
        (outer.valid() && op.phase == ir::Phase::kUnknown)) {
      loaders[id] = outer.valid() ? outer : id;
    }
  }
  PlaceSums sums(data.ranks.size());
  for (const ir::ThreadId thread : data.threads.ids()) {
    for (const timeline::HostSegment& segment :
         subject.result.plan.threads[thread]) {
      const ir::OpId op = segment.op.valid() ? loaders[segment.op] : ir::OpId{};
      if (op.valid() && segment.kind != cost::HostKind::kBetweenOps) {
        const std::string_view name = graph.text(data.ops[op].name);
        sums.Add(name, engine::ShortOpName(name) + SiteText(graph, op),
                 data.threads[thread].rank, segment.duration);
      }
    }
  }
  return sums.Sorted();
}

std::string PlacesThatChange(const Case& before, const Case& after) {
  if (before.result.graph != after.result.graph) {
    return "";
  }
  std::optional<ChangeFinder> most;
  for (const ir::RankId rank : before.result.graph->data().ranks.ids()) {
    const ChangeFinder finder(before, after, rank);
    if (finder.total() > (most ? most->total() : 0)) {
      most.emplace(finder);
    }
  }
  return most ? most->Text() : "";
}

}  // namespace stepcast::whatif
