#include "engine/blame.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text_table.h"
#include "ir/names.h"
#include "sim/critical_path.h"

namespace stepcast::engine {
namespace {

using lower::TaskOrigin;
using std::chrono::microseconds;

// Shorter skews are what any two ranks differ by.
constexpr Duration kNoticed = microseconds(20);

class Blamer {
 public:
  Blamer(const ir::Graph& graph, const cost::HostPlan& plan,
         const lower::Lowered& lowered, const sim::Schedule& schedule)
      : graph_(graph), plan_(plan), lowered_(lowered), schedule_(schedule) {}

  std::optional<CollectiveBlame> Visit(ir::CollectiveId id) const;

 private:
  // What a way through the schedule spent its time on.
  using Spent = std::map<std::string, Duration>;

  std::string KeyOf(const sim::PathStep& step) const;
  std::string HostKey(const cost::HostPiece& piece) const;
  Spent SpentUntilStart(sim::TaskId task) const;
  std::string Explain(sim::TaskId first, sim::TaskId last) const;

  const ir::Graph& graph_;
  const cost::HostPlan& plan_;
  const lower::Lowered& lowered_;
  const sim::Schedule& schedule_;
};

std::string Blamer::HostKey(const cost::HostPiece& piece) const {
  const ir::GraphData& data = graph_.data();
  const std::string_view op =
      piece.op.valid() ? graph_.text(data.ops[piece.op].name) : "";
  switch (piece.kind) {
    case cost::HostKind::kCall:
      return fmt::format("in calls of {}",
                         graph_.text(data.calls[piece.call].name));
    case cost::HostKind::kBetweenOps:
      return op.empty() ? std::string("between ops")
                        : fmt::format("before {}", op);
    case cost::HostKind::kHandOver:
      return "between threads";
    default:
      return fmt::format("in {}", op);
  }
}

std::string Blamer::KeyOf(const sim::PathStep& step) const {
  using Kind = sim::PathStep::Kind;
  switch (step.kind) {
    case Kind::kRelease:
      return lowered_.origins[step.task].kind == TaskOrigin::Kind::kWork
                 ? "behind work of the step before"
                 : "before its step began";
    case Kind::kGap:
    case Kind::kDelay:
      return "in delays of the device";
    case Kind::kTask:
      break;
  }
  const TaskOrigin& origin = lowered_.origins[step.task];
  if (origin.kind == TaskOrigin::Kind::kWork) {
    const ir::Work& work = graph_.data().works[origin.work];
    return work.kind == ir::WorkKind::kCollective
               ? std::string("in collectives")
               : std::string("in kernels and copies");
  }
  if (origin.kind == TaskOrigin::Kind::kStart) {
    return "at its start";
  }
  return HostKey(plan_.threads[origin.thread][origin.piece]);
}

// The path that made `task` start when it did, by what it spent.
Blamer::Spent Blamer::SpentUntilStart(sim::TaskId task) const {
  Spent spent;
  const Duration start = schedule_.placements[task].start;
  for (const sim::PathStep& step :
       sim::PathTo(lowered_.tasks, schedule_, task)) {
    if (step.begin < start && step.begin < step.end) {
      spent[KeyOf(step)] += std::min(step.end, start) - step.begin;
    }
  }
  return spent;
}

// Both paths begin at time zero, so what one spent more than the other sums
// up to the skew.
std::string Blamer::Explain(sim::TaskId first, sim::TaskId last) const {
  Spent excess = SpentUntilStart(last);
  for (const auto& [key, time] : SpentUntilStart(first)) {
    excess[key] -= time;
  }
  std::vector<std::pair<std::string, Duration>> most(excess.begin(),
                                                     excess.end());
  std::ranges::stable_sort(
      most, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  const Duration skew =
      schedule_.placements[last].start - schedule_.placements[first].start;
  Duration told{};
  for (const auto& [key, time] : most) {
    // The largest ones, until most of it is told.
    constexpr int kParts = 10;
    if (time * kParts < skew || told * kParts > skew * (kParts - 1)) {
      break;
    }
    told += time;
    text += fmt::format(
        "{}{} us {}", text.empty() ? "" : ", ",
        WithThousands(std::chrono::round<microseconds>(time).count()), key);
  }
  return text;
}

std::optional<CollectiveBlame> Blamer::Visit(ir::CollectiveId id) const {
  const ir::GraphData& data = graph_.data();
  const ir::MatchedCollective& collective = data.collectives[id];
  CollectiveBlame found{.id = id, .kind = collective.kind};
  std::vector<sim::TaskId> tasks;
  for (const ir::WorkId work : collective.works) {
    const sim::TaskId task = lowered_.work_tasks[work];
    if (!task.valid()) {
      return std::nullopt;
    }
    tasks.push_back(task);
    found.ranks.push_back(
        data.ranks[data.streams[data.works[work].stream].rank].number);
  }
  const auto start_of = [this](sim::TaskId task) {
    return schedule_.placements[task].start;
  };
  const auto [first, last] = std::ranges::minmax_element(tasks, {}, start_of);
  // Of several that start together the first by rank is told.
  const auto last_first = std::ranges::find(tasks, start_of(*last), start_of);
  found.start = start_of(*first);
  found.start_skew = start_of(*last) - found.start;
  found.last_rank =
      found.ranks[static_cast<size_t>(last_first - tasks.begin())];
  for (const sim::TaskId task : tasks) {
    found.waits.push_back(start_of(*last) - start_of(task));
    found.own =
        std::max(found.own, schedule_.placements[task].end - start_of(*last));
  }
  if (found.start_skew >= kNoticed) {
    const std::string why = Explain(*first, *last_first);
    found.blame =
        fmt::format("rank {} spent {} more than rank {}", found.last_rank,
                    why.empty() ? std::string("a little of everything") : why,
                    found.ranks[static_cast<size_t>(first - tasks.begin())]);
  }
  return found;
}

}  // namespace

std::vector<CollectiveBlame> BlameCollectives(const ir::Graph& graph,
                                              const cost::HostPlan& plan,
                                              const lower::Lowered& lowered,
                                              const sim::Schedule& schedule) {
  const Blamer blamer(graph, plan, lowered, schedule);
  std::vector<CollectiveBlame> found;
  for (const ir::CollectiveId id : graph.data().collectives.ids()) {
    if (auto blame = blamer.Visit(id)) {
      found.push_back(*std::move(blame));
    }
  }
  std::ranges::stable_sort(found, {}, [](const CollectiveBlame& blame) {
    return blame.start + blame.start_skew;
  });
  return found;
}

}  // namespace stepcast::engine
