#include "engine/explain/attribution.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "engine/explain/path_parts.h"
#include "ir/names.h"

namespace stepcast::engine {
namespace {

using timeline::TaskOrigin;

// Which op of the forward pass each op of the backward pass is from, by the
// numbers that autograd gave them.
class ForwardOps {
 public:
  ForwardOps(const ir::GraphData& data, ir::RankId rank) : data_(data) {
    FindLookups();
    for (const ir::ThreadId thread : data.threads.ids()) {
      if (data.threads[thread].rank == rank) {
        AddThread(timeline::OfThread(data.ops, thread));
      }
    }
  }

  // Of an op of the backward pass; invalid if it is not in the step.
  ir::OpId Of(int64_t sequence) const {
    const auto found = ops_.find(sequence);
    return found == ops_.end() ? ir::OpId{} : found->second.op;
  }

  // The ones with the next lower and the next higher number: an op whose own
  // number was not recorded ran between them. Invalid if there are none.
  std::pair<ir::OpId, ir::OpId> Around(int64_t sequence) const {
    const auto above = ops_.upper_bound(sequence);
    const auto below = ops_.lower_bound(sequence);
    if (above == ops_.end() || below == ops_.begin() ||
        above->second.thread != std::prev(below)->second.thread) {
      return {};
    }
    return {std::prev(below)->second.op, above->second.op};
  }

 private:
  struct Numbered {
    ir::OpId op{};
    ir::ThreadId thread{};
    bool is_lookup = false;
  };

  void FindLookups() {
    is_lookup_ = IdVector<ir::OpId, char>(data_.ops.size());
    for (const ir::Activity& activity : data_.activities) {
      const auto* bag =
          std::get_if<ir::EmbeddingBag>(&data_.shapes[activity.shape]);
      const ir::OpId op =
          activity.call.valid() ? data_.calls[activity.call].op : ir::OpId{};
      if (bag != nullptr && bag->pass == ir::Pass::kForward && op.valid()) {
        is_lookup_[op] = 1;
      }
    }
  }

  // FBGEMM's lookups often have no number: theirs is one less than that of the
  // next op. Ops around and before the one that autograd numbered show its
  // number, too; the last one in order is it.
  void AddThread(IdRange<ir::OpId> ops) {
    int64_t next = -1;
    for (uint32_t i = ops.count; i-- > 0;) {
      const ir::OpId id{ops.first + i};
      const ir::Op& op = data_.ops[id];
      if (op.kind != ir::OpKind::kOp) {
        continue;
      }
      const bool lookup = is_lookup_[id] != 0;
      const bool inferred = op.sequence < 0 && lookup && next > 0;
      if (op.sequence >= 0 || inferred) {
        const int64_t number = inferred ? next - 1 : op.sequence;
        next = inferred ? next : op.sequence;
        if (op.phase != ir::Phase::kBackward) {
          Add(number, {.op = id, .thread = op.thread, .is_lookup = lookup});
        }
      }
    }
  }

  // From the back: the first one stays, but for a lookup. Numbers are of one
  // thread; those of the first, which is the main one, count.
  void Add(int64_t number, const Numbered& added) {
    const auto [entry, is_new] = ops_.emplace(number, added);
    if (!is_new && entry->second.thread == added.thread && added.is_lookup &&
        !entry->second.is_lookup) {
      entry->second = added;
    }
  }

  const ir::GraphData& data_;
  IdVector<ir::OpId, char> is_lookup_;
  std::map<int64_t, Numbered> ops_;
};

// Where an op's time belongs.
struct OpPlace {
  uint32_t place = Place::kNoPlace;
  bool backward = false;
  ir::OpId forward{};  // The op that it is shown at, itself included.
};

std::string_view PhaseText(ir::Phase phase) {
  switch (phase) {
    case ir::Phase::kUnknown:
      return "other";
    case ir::Phase::kDataLoading:
      return "data loading";
    case ir::Phase::kSparseDataDist:
      return "sparse data distribution";
    default:
      return ir::Name(phase);
  }
}

// Deeper places count at the one that is so deep, and so many annotations are
// looked at around an op: what is written must not nest as deep as a recording.
constexpr uint32_t kMostDepth = 64;

constexpr std::string_view kEarlier = "launched before the step";

// The places of a rank's ops, made as they are asked for.
class PlaceTree {
 public:
  PlaceTree(const StepResult& result, ir::RankId rank)
      : graph_(*result.graph),
        data_(graph_.data()),
        tops_(timeline::TopLevelOps(data_)),
        forward_(data_, rank),
        of_ops_(data_.ops.size()) {
    for (const ir::OpId id : data_.ops.ids()) {
      if (tops_[id] == id && data_.threads[data_.ops[id].thread].rank == rank) {
        ++places_[Of(id).place].ops;
      }
    }
  }

  // Of the outermost op around `op`, or of an annotation outside of all ops.
  OpPlace Of(ir::OpId op);
  // The place around that of an op: what the time before it belongs to.
  OpPlace Around(ir::OpId op) {
    OpPlace found = Of(op);
    found.place = places_[found.place].parent;
    return found;
  }
  OpPlace Root(ir::Phase phase) {
    return {.place =
                Child(Place::kNoPlace, PlaceKind::kPhase, PhaseText(phase))};
  }
  OpPlace Earlier() {
    return {.place = Child(Place::kNoPlace, PlaceKind::kPhase, kEarlier)};
  }

  const ir::Graph& graph() const { return graph_; }
  ir::OpId top(ir::OpId op) const { return tops_[op]; }
  std::vector<Place>& places() { return places_; }

 private:
  uint32_t Child(uint32_t parent, PlaceKind kind, std::string_view name,
                 std::string_view site = {});
  uint32_t Modules(uint32_t place, std::string_view& inside,
                   std::string_view modules);
  int64_t NumberOf(ir::OpId top) const;
  uint32_t Common(ir::OpId a, ir::OpId b);
  uint32_t PlaceOfBackward(ir::OpId top, OpPlace& found);
  uint32_t PlaceOfOp(ir::OpId op);

  const ir::Graph& graph_;
  const ir::GraphData& data_;
  const IdVector<ir::OpId, ir::OpId> tops_;
  const ForwardOps forward_;
  IdVector<ir::OpId, OpPlace> of_ops_;
  std::vector<Place> places_;
  std::map<std::tuple<uint32_t, PlaceKind, std::string, std::string>, uint32_t>
      known_;
};

uint32_t PlaceTree::Child(uint32_t parent, PlaceKind kind,
                          std::string_view name, std::string_view site) {
  if (parent != Place::kNoPlace && places_[parent].depth + 1 >= kMostDepth) {
    return parent;
  }
  const auto [entry, is_new] = known_.emplace(
      std::tuple(parent, kind, std::string(name), std::string(site)),
      static_cast<uint32_t>(places_.size()));
  if (is_new) {
    places_.push_back(
        {.kind = kind,
         .name = std::string(name),
         .site = std::string(site),
         .parent = parent,
         .depth = parent == Place::kNoPlace ? 0 : places_[parent].depth + 1});
  }
  return entry->second;
}

// Goes on from the modules `inside` to all of `modules`.
uint32_t PlaceTree::Modules(uint32_t place, std::string_view& inside,
                            std::string_view modules) {
  const bool deeper = modules.starts_with(inside) &&
                      (inside.empty() || modules.size() == inside.size() ||
                       modules[inside.size()] == '/');
  std::string_view rest = deeper ? modules.substr(inside.size()) : modules;
  while (!rest.empty()) {
    rest.remove_prefix(rest.front() == '/' ? 1 : 0);
    const std::string_view name = rest.substr(0, rest.find('/'));
    place = name.empty() ? place : Child(place, PlaceKind::kModule, name);
    rest.remove_prefix(name.size());
  }
  inside = modules;
  return place;
}

// Autograd's own range around an op of the backward pass has its number; where
// that lacks one, the first op inside may have it. -1: none has.
int64_t PlaceTree::NumberOf(ir::OpId top) const {
  for (ir::OpId id = top; id < data_.ops.next_id() && tops_[id] == top;
       ++id.value) {
    if (data_.ops[id].sequence >= 0) {
      return data_.ops[id].sequence;
    }
  }
  return -1;
}

// What the places of two ops have in common.
uint32_t PlaceTree::Common(ir::OpId a, ir::OpId b) {
  uint32_t left = Of(a).place;
  uint32_t right = Of(b).place;
  while (left != right && left != Place::kNoPlace && right != Place::kNoPlace) {
    uint32_t& deeper =
        places_[left].depth >= places_[right].depth ? left : right;
    deeper = places_[deeper].parent;
  }
  const bool same = left == right && left != Place::kNoPlace;
  const bool is_op = same && places_[left].kind == PlaceKind::kOp;
  return !same ? Place::kNoPlace : is_op ? places_[left].parent : left;
}

// Of an op of the backward pass: where its op of the forward pass is; where
// that has no number, what is around its neighbours.
uint32_t PlaceTree::PlaceOfBackward(ir::OpId top, OpPlace& found) {
  const int64_t number = NumberOf(top);
  const ir::OpId forward = number < 0 ? ir::OpId{} : forward_.Of(number);
  if (forward.valid()) {
    found.forward = tops_[forward].valid() ? tops_[forward] : forward;
    return PlaceOfOp(found.forward);
  }
  const auto [before, after] =
      number < 0 ? std::pair<ir::OpId, ir::OpId>() : forward_.Around(number);
  const uint32_t around =
      before.valid() ? Common(before, after) : Place::kNoPlace;
  return around == Place::kNoPlace
             ? PlaceOfOp(top)
             : Child(around, PlaceKind::kOp,
                     ShortOpName(graph_.text(data_.ops[top].name)));
}

uint32_t PlaceTree::PlaceOfOp(ir::OpId op) {
  std::vector<ir::OpId> around;
  for (ir::OpId id = op; id.valid() && around.size() < kMostDepth;
       id = data_.ops[id].parent) {
    around.push_back(id);
  }
  uint32_t place = Root(data_.ops[op].phase).place;
  std::string_view inside;
  for (size_t i = around.size(); i-- > 0;) {
    const ir::Op& item = data_.ops[around[i]];
    place = Modules(place, inside, graph_.text(item.modules));
    place =
        item.kind == ir::OpKind::kOp
            ? Child(place, PlaceKind::kOp, ShortOpName(graph_.text(item.name)),
                    graph_.text(item.site))
            : Child(place, PlaceKind::kAnnotation, graph_.text(item.name));
  }
  return place;
}

OpPlace PlaceTree::Of(ir::OpId op) {
  const ir::OpId own = tops_[op].valid() ? tops_[op] : op;
  if (of_ops_[own].place == Place::kNoPlace) {
    OpPlace found{.backward = data_.ops[own].phase == ir::Phase::kBackward,
                  .forward = own};
    found.place = found.backward ? PlaceOfBackward(own, found) : PlaceOfOp(own);
    of_ops_[own] = found;
  }
  return of_ops_[own];
}

// Which annotation outside of all ops is the innermost at any time.
class AnnotationTimes {
 public:
  struct Change {
    Duration at{};
    ir::OpId inside{};  // From then on; invalid: none.
  };

  AnnotationTimes(const ir::GraphData& data, const PlaceTree& tree,
                  ir::ThreadId thread) {
    std::vector<std::pair<Duration, ir::OpId>> open;  // By end.
    const auto close = [&](Duration until) {
      while (!open.empty() && open.back().first <= until) {
        const Duration end = open.back().first;
        open.pop_back();
        changes_.push_back(
            {end, open.empty() ? ir::OpId{} : open.back().second});
      }
    };
    for (const ir::OpId id : timeline::OfThread(data.ops, thread)) {
      const ir::Op& op = data.ops[id];
      if (op.kind != ir::OpKind::kAnnotation || tree.top(id).valid() ||
          !ir::StartOf(op.measured)) {
        continue;
      }
      const Duration start = *op.measured->start;
      close(start);
      Duration end = start + op.measured->duration;
      // Where clocks are coarse a child may seem to end after its parent.
      end = open.empty() ? end : std::min(end, open.back().first);
      open.emplace_back(end, id);
      changes_.push_back({start, id});
    }
    close(Duration::max());
  }

  // Calls visit(annotation, length, is_last) for the parts of [begin, end).
  template <typename Visit>
  void VisitParts(Duration begin, Duration end, const Visit& visit) const {
    auto next = std::ranges::upper_bound(changes_, begin, {}, &Change::at);
    ir::OpId inside =
        next == changes_.begin() ? ir::OpId{} : std::prev(next)->inside;
    while (next != changes_.end() && next->at < end) {
      visit(inside, next->at - begin, false);
      begin = next->at;
      inside = next->inside;
      ++next;
    }
    visit(inside, end - begin, true);
  }

 private:
  std::vector<Change> changes_;  // By time.
};

// The host's tasks of one segment.
struct SegmentTasks {
  sim::TaskId busy{};
  sim::TaskId returning{};
};

// One rank's tasks of the last repeat.
struct RankTasks {
  std::vector<std::pair<sim::TaskId, ir::ActivityId>> activities;
  IdVector<ir::ThreadId, std::vector<SegmentTasks>> segments;

  RankTasks(const StepResult& result, ir::RankId rank)
      : segments(result.plan.threads.size()) {
    for (const ir::ThreadId thread : result.plan.threads.ids()) {
      segments[thread].resize(result.plan.threads[thread].size());
    }
    const auto last =
        static_cast<uint32_t>(result.lowered.rank_ends.size()) - 1;
    for (const sim::TaskId task : result.lowered.origins.ids()) {
      const TaskOrigin& origin = result.lowered.origins[task];
      if (origin.rank != rank || origin.repeat != last) {
        continue;
      }
      if (origin.kind == TaskOrigin::Kind::kActivity) {
        activities.emplace_back(task, origin.activity);
      } else if (origin.kind == TaskOrigin::Kind::kSegment) {
        segments[origin.thread][origin.segment].busy = task;
      } else if (origin.kind == TaskOrigin::Kind::kReturn) {
        segments[origin.thread][origin.segment].returning = task;
      }
    }
  }
};

// Some host time and what it is called.
struct HostTime {
  OpPlace where{};
  Duration time{};
  std::string what{};
};

// Gives every segment of a thread to places.
class HostWalk {
 public:
  HostWalk(const StepResult& result, PlaceTree& tree, ir::ThreadId thread)
      : data_(result.graph->data()),
        result_(result),
        tree_(tree),
        thread_(thread),
        annotations_(data_, tree, thread),
        offset_(-result.lowered.rank_starts[data_.threads[thread].rank]) {}

  // Calls give(HostTime) for all of them.
  template <typename Give>
  void Run(const std::vector<SegmentTasks>& tasks, const Give& give) {
    const auto& segments = result_.plan.threads[thread_];
    for (size_t i = 0; i < segments.size(); ++i) {
      const timeline::HostSegment& segment = segments[i];
      const Duration time = LengthOf(tasks[i]);
      if (segment.kind == cost::HostKind::kBetweenOps ||
          segment.kind == cost::HostKind::kHandoff) {
        GiveGap(segment, tasks[i], give);
        continue;
      }
      const OpPlace where = PlaceOf(segment);
      give(HostTime{.where = where, .time = time, .what = WhatOf(segment)});
      // How far measured times are from simulated ones from here on.
      const auto end = EndOf(segment);
      const bool last = i + 1 == segments.size() ||
                        segments[i + 1].kind == cost::HostKind::kBetweenOps ||
                        segments[i + 1].kind == cost::HostKind::kHandoff;
      if (last && end && tasks[i].busy.valid()) {
        offset_ = *end - SimulatedEnd(tasks[i]);
      }
    }
  }

 private:
  Duration LengthOf(const SegmentTasks& tasks) const {
    Duration length{};
    for (const sim::TaskId task : {tasks.busy, tasks.returning}) {
      if (task.valid()) {
        const sim::Placement& placement = result_.schedule.placements[task];
        length += placement.end - placement.start;
      }
    }
    return length;
  }
  Duration SimulatedEnd(const SegmentTasks& tasks) const {
    return result_.schedule
        .placements[tasks.returning.valid() ? tasks.returning : tasks.busy]
        .end;
  }

  // Of the outermost op, or of the call outside of all ops.
  std::optional<Duration> EndOf(const timeline::HostSegment& segment) const {
    const std::optional<ir::Measured>& measured =
        segment.op.valid()     ? data_.ops[segment.op].measured
        : segment.call.valid() ? data_.calls[segment.call].measured
                               : kUnmeasured;
    const auto start = ir::StartOf(measured);
    return start ? std::optional(*start + measured->duration) : std::nullopt;
  }

  OpPlace PlaceOf(const timeline::HostSegment& segment) {
    const ir::OpId op = segment.op.valid()     ? segment.op
                        : segment.call.valid() ? data_.calls[segment.call].op
                                               : ir::OpId{};
    return op.valid() ? tree_.Of(op) : tree_.Root(ir::Phase::kUnknown);
  }

  std::string WhatOf(const timeline::HostSegment& segment) const {
    if (segment.call.valid()) {
      return std::string(tree_.graph().text(data_.calls[segment.call].name));
    }
    return segment.op.valid() ? What("in ", segment.op) : "other";
  }
  // Whatever the op is that comes after waiting for data.
  std::string What(std::string_view how, ir::OpId op) const {
    return data_.ops[op].phase == ir::Phase::kDataLoading
               ? "data loading"
               : std::string(how) + NameOf(op);
  }
  std::string NameOf(ir::OpId op) const {
    return ShortOpName(tree_.graph().text(data_.ops[op].name));
  }

  // Time before an op belongs to what is around the op, unless an annotation
  // was open then that is over.
  template <typename Give>
  void GiveGap(const timeline::HostSegment& segment, const SegmentTasks& tasks,
               const Give& give) {
    if (!tasks.busy.valid()) {
      return;
    }
    const sim::Placement& placement = result_.schedule.placements[tasks.busy];
    const ir::OpId op = segment.op;
    annotations_.VisitParts(
        placement.start + offset_, placement.end + offset_,
        [&](ir::OpId inside, Duration length, bool is_last) {
          if (op.valid() && is_last && InnermostAround(op) == inside) {
            give(HostTime{.where = tree_.Around(op),
                          .time = length,
                          .what = What("before ", op)});
          } else if (inside.valid()) {
            give(HostTime{.where = tree_.Of(inside),
                          .time = length,
                          .what = What("in ", inside)});
          } else if (op.valid()) {
            give(HostTime{.where = tree_.Root(data_.ops[op].phase),
                          .time = length,
                          .what = What("before ", op)});
          } else {
            give(HostTime{.where = tree_.Root(ir::Phase::kUnknown),
                          .time = length,
                          .what = "between ops"});
          }
        });
  }

  // The annotation that an op is directly in. Without times none is known to
  // be over.
  ir::OpId InnermostAround(ir::OpId op) const {
    return ir::StartOf(data_.ops[op].measured) ? data_.ops[op].parent
                                               : ir::OpId{};
  }

  static constexpr std::optional<ir::Measured> kUnmeasured{};

  const ir::GraphData& data_;
  const StepResult& result_;
  PlaceTree& tree_;
  const ir::ThreadId thread_;
  const AnnotationTimes annotations_;
  Duration offset_{};  // From simulated to measured times.
};

// How long each activity of a rank ran alone.
std::vector<Duration> TimesAlone(const StepResult& result,
                                 const RankTasks& tasks) {
  // Starts and ends in order of time; an end before a start.
  std::vector<std::tuple<Duration, bool, size_t>> changes;
  for (size_t i = 0; i < tasks.activities.size(); ++i) {
    const sim::Placement& placement =
        result.schedule.placements[tasks.activities[i].first];
    if (placement.run < placement.end) {
      changes.emplace_back(placement.run, true, i);
      changes.emplace_back(placement.end, false, i);
    }
  }
  std::ranges::sort(changes);
  std::vector<Duration> alone(tasks.activities.size());
  std::set<size_t> running;
  Duration since{};
  for (const auto& [at, starts, i] : changes) {
    if (running.size() == 1) {
      alone[*running.begin()] += at - since;
    }
    if (starts) {
      running.insert(i);
    } else {
      running.erase(i);
    }
    since = at;
  }
  return alone;
}

// Where an activity's time belongs.
OpPlace PlaceOfActivity(const ir::Activity& activity, PlaceTree& tree) {
  const ir::GraphData& data = tree.graph().data();
  if (!activity.call.valid()) {
    return tree.Earlier();
  }
  const ir::OpId op = data.calls[activity.call].op;
  return op.valid() ? tree.Of(op) : tree.Root(ir::Phase::kUnknown);
}

PlaceTimes TimesOfActivity(const sim::Placement& placement, Duration alone,
                           bool backward) {
  const Duration gpu = placement.end - placement.run;
  return {.gpu = gpu,
          .exposed = alone,
          .wait = placement.run - placement.start,
          .gpu_backward = backward ? gpu : Duration{}};
}

// Sums up over the tree and sorts it: parents first, the largest first of
// siblings.
std::vector<Place> Sorted(std::vector<Place> places) {
  constexpr uint32_t kNone = Place::kNoPlace;
  std::vector<std::vector<uint32_t>> children(places.size() + 1);
  // Parents were made before their children.
  for (uint32_t i = static_cast<uint32_t>(places.size()); i-- > 0;) {
    places[i].total += places[i].own;
    const uint32_t parent = places[i].parent;
    if (parent != kNone) {
      places[parent].total += places[i].total;
    }
    children[parent == kNone ? places.size() : parent].push_back(i);
  }
  for (std::vector<uint32_t>& siblings : children) {
    std::ranges::sort(siblings, {}, [&](uint32_t i) {
      return std::tuple(-places[i].total.size(), places[i].kind, places[i].name,
                        places[i].site);
    });
  }
  std::vector<Place> sorted;
  std::vector<std::pair<uint32_t, uint32_t>> open;  // Place, new parent.
  const auto push = [&](uint32_t list, uint32_t parent) {
    // The first one is to be taken first.
    for (size_t i = children[list].size(); i-- > 0;) {
      open.emplace_back(children[list][i], parent);
    }
  };
  push(static_cast<uint32_t>(places.size()), kNone);
  while (!open.empty()) {
    const auto [from, parent] = open.back();
    open.pop_back();
    push(from, static_cast<uint32_t>(sorted.size()));
    sorted.push_back(std::move(places[from]));
    sorted.back().parent = parent;
  }
  return sorted;
}

}  // namespace

std::string_view Name(PlaceKind kind) {
  constexpr std::array<std::string_view, 4> kNames = {"phase", "annotation",
                                                      "module", "op"};
  return kNames.at(static_cast<size_t>(kind));
}

PlaceTimes& PlaceTimes::operator+=(const PlaceTimes& other) {
  gpu += other.gpu;
  exposed += other.exposed;
  wait += other.wait;
  host += other.host;
  gpu_backward += other.gpu_backward;
  host_backward += other.host_backward;
  return *this;
}

Attribution Attribute(const StepResult& result, ir::RankId rank) {
  const ir::GraphData& data = result.graph->data();
  PlaceTree tree(result, rank);
  const RankTasks tasks(result, rank);
  Attribution found{.rank = data.ranks[rank].number,
                    .step = result.accounts[rank.value].step};
  const auto give = [&](const OpPlace& where, const PlaceTimes& times) {
    tree.places()[where.place].own += times;
    found.total += times;
    if (where.forward.valid() &&
        data.ops[where.forward].site != StringPool::kEmpty) {
      found.sites[std::string(
          tree.graph().text(data.ops[where.forward].site))] += times;
    }
  };
  const std::vector<Duration> alone = TimesAlone(result, tasks);
  for (size_t i = 0; i < tasks.activities.size(); ++i) {
    const auto& [task, activity] = tasks.activities[i];
    const OpPlace where = PlaceOfActivity(data.activities[activity], tree);
    give(where, TimesOfActivity(result.schedule.placements[task], alone[i],
                                where.backward));
  }
  for (const ir::ThreadId thread : data.threads.ids()) {
    if (data.threads[thread].rank == rank) {
      HostWalk(result, tree, thread)
          .Run(tasks.segments[thread], [&](const HostTime& part) {
            give(part.where,
                 {.host = part.time,
                  .host_backward =
                      part.where.backward ? part.time : Duration{}});
            found.host_parts[part.what] += part.time;
          });
    }
  }
  found.places = Sorted(std::move(tree.places()));
  for (Place& place : found.places) {
    const bool both =
        place.kind == PlaceKind::kPhase &&
        place.name == PhaseText(ir::Phase::kForward) &&
        place.total.gpu_backward + place.total.host_backward > Duration{};
    place.name = both ? "forward and backward" : std::move(place.name);
  }
  return found;
}

namespace {

// A name as part of a folded stack.
std::string Frame(std::string_view name) {
  std::string frame(name);
  std::ranges::replace(frame, ';', ',');
  std::ranges::replace_if(
      frame, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return frame;
}

}  // namespace

std::string FoldedStacks(const StepResult& result, ir::RankId rank) {
  const ir::Graph& graph = *result.graph;
  const ir::GraphData& data = graph.data();
  PlaceTree tree(result, rank);
  const RankTasks tasks(result, rank);
  std::map<std::string, Duration> stacks;
  // An op of the backward pass is in its own phase, in the modules of
  // the forward pass.
  const auto stack_of = [&](const OpPlace& where) {
    std::string stack;
    for (uint32_t i = where.place; i != Place::kNoPlace;
         i = tree.places()[i].parent) {
      const Place& place = tree.places()[i];
      stack.insert(0,
                   ";" + Frame(place.kind == PlaceKind::kPhase && where.backward
                                   ? PhaseText(ir::Phase::kBackward)
                                   : std::string_view(place.name)));
    }
    return stack.substr(1);
  };
  for (const auto& [task, activity] : tasks.activities) {
    const ir::Activity& item = data.activities[activity];
    const sim::Placement& placement = result.schedule.placements[task];
    stacks[fmt::format("{};{}", stack_of(PlaceOfActivity(item, tree)),
                       Frame(ShortActivityName(graph.text(item.name))))] +=
        placement.end - placement.run;
  }
  for (const ir::ThreadId thread : data.threads.ids()) {
    if (data.threads[thread].rank == rank) {
      HostWalk(result, tree, thread)
          .Run(tasks.segments[thread], [&](const HostTime& part) {
            stacks["host;" + stack_of(part.where)] += part.time;
          });
    }
  }
  std::string text;
  for (const auto& [stack, time] : stacks) {
    const int64_t us =
        std::chrono::round<std::chrono::microseconds>(time).count();
    text += us > 0 ? fmt::format("{} {}\n", stack, us) : "";
  }
  return text;
}

}  // namespace stepcast::engine
