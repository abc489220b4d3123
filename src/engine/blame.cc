#include "engine/blame.h"

#include <algorithm>
#include <map>
#include <ratio>

#include <fmt/format.h>

#include "base/join.h"
#include "base/text_table.h"
#include "engine/path_parts.h"
#include "sim/critical_path.h"

namespace stepcast::engine {
namespace {

using std::chrono::microseconds;

// Shorter skews are what any two ranks differ by.
constexpr Duration kNoticed = microseconds(20);

// Paths that are alike differ by not much more than the skew itself.
using Alike = std::ratio<3, 2>;

class Blamer {
 public:
  Blamer(const ir::Graph& graph, const cost::HostPlan& plan,
         const lower::Lowered& lowered, const sim::Schedule& schedule)
      : graph_(graph), plan_(plan), lowered_(lowered), schedule_(schedule) {}

  std::optional<CollectiveBlame> Visit(ir::CollectiveId id) const;

 private:
  // What time goes to, and on which rank, if it is not that of the path's end.
  struct Subject {
    PathSubject what{};
    ir::RankId rank{};
    // clang-tidy 14 takes the 0 in a rewritten `a < b` for a pointer.
    // NOLINTNEXTLINE(modernize-use-nullptr)
    friend auto operator<=>(const Subject&, const Subject&) = default;
  };
  // What a way through the schedule spent its time on.
  using Spent = std::map<Subject, Duration>;

  ir::RankId RankOf(sim::TaskId task) const {
    return lowered_.origins[task].rank;
  }
  int64_t NumberOf(sim::TaskId task) const {
    return graph_.data().ranks[RankOf(task)].number;
  }
  Subject SubjectOf(const PathPart& part, sim::TaskId end) const;
  std::vector<PathPart> PartsUntilStart(sim::TaskId task) const;
  Spent Excess(sim::TaskId first, sim::TaskId last) const;
  Spent SpentMeanwhile(sim::TaskId first, sim::TaskId last) const;
  std::string Tell(const Spent& spent, Duration skew,
                   std::string_view sign) const;
  std::string Explain(sim::TaskId first, sim::TaskId last) const;

  const ir::Graph& graph_;
  const cost::HostPlan& plan_;
  const lower::Lowered& lowered_;
  const sim::Schedule& schedule_;
};

// Which kernel or gap it was hardly matters to who waits on another rank.
PathSubject Coarse(const PathSubject& subject) {
  switch (subject.kind) {
    case PathKind::kHost:
    case PathKind::kSync:
    case PathKind::kWait:
      return subject;
    case PathKind::kCopy:
      return {.kind = PathKind::kKernel};
    default:
      return {.kind = subject.kind};
  }
}

std::string CoarseText(const ir::Graph& graph, const PathSubject& subject) {
  switch (subject.kind) {
    case PathKind::kHost:
    case PathKind::kSync:
    case PathKind::kWait:
      return Text(graph, subject);
    case PathKind::kKernel:
    case PathKind::kCopy:
      return "in kernels and copies";
    case PathKind::kCollective:
      return "in collectives";
    case PathKind::kLaunch:
      break;
  }
  return "in launches and gaps of the device";
}

Blamer::Subject Blamer::SubjectOf(const PathPart& part, sim::TaskId end) const {
  return {.what = Coarse(part.subject),
          .rank = part.rank == RankOf(end) ? ir::RankId{} : part.rank};
}

// The path that made `task` start when it did.
std::vector<PathPart> Blamer::PartsUntilStart(sim::TaskId task) const {
  const std::vector<sim::PathStep> path =
      sim::PathToStart(lowered_.tasks, schedule_, task);
  return DescribePath(graph_.data(), plan_, lowered_, path);
}

// How many parts both paths begin with.
size_t CommonParts(const std::vector<PathPart>& a,
                   const std::vector<PathPart>& b) {
  size_t count = 0;
  while (count < a.size() && count < b.size() &&
         a[count].task == b[count].task && a[count].begin == b[count].begin &&
         a[count].end == b[count].end) {
    ++count;
  }
  return count;
}

// What the last one's path spent more than the first one's. Both begin at time
// zero, so it sums up to the skew.
Blamer::Spent Blamer::Excess(sim::TaskId first, sim::TaskId last) const {
  const std::vector<PathPart> more = PartsUntilStart(last);
  const std::vector<PathPart> less = PartsUntilStart(first);
  Spent spent;
  for (size_t i = CommonParts(more, less); i < more.size(); ++i) {
    spent[SubjectOf(more[i], last)] += more[i].end - more[i].begin;
  }
  for (size_t i = CommonParts(more, less); i < less.size(); ++i) {
    spent[SubjectOf(less[i], first)] -= less[i].end - less[i].begin;
  }
  return spent;
}

// What the last one's path spent while the first one waited.
Blamer::Spent Blamer::SpentMeanwhile(sim::TaskId first,
                                     sim::TaskId last) const {
  const Duration since = schedule_.placements[first].start;
  Spent spent;
  for (const PathPart& part : PartsUntilStart(last)) {
    if (part.end > since) {
      spent[SubjectOf(part, last)] += part.end - std::max(part.begin, since);
    }
  }
  return spent;
}

// The largest ones, until most of it is told.
std::string Blamer::Tell(const Spent& spent, Duration skew,
                         std::string_view sign) const {
  constexpr int kTenths = 10;
  constexpr size_t kMostTold = 3;
  std::vector<std::pair<Subject, Duration>> most(spent.begin(), spent.end());
  std::ranges::stable_sort(
      most, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> texts;
  Duration told{};
  for (const auto& [subject, time] : most) {
    if (time * kTenths < skew || told * kTenths > skew * (kTenths - 1) ||
        texts.size() == kMostTold) {
      break;
    }
    told += time;
    const int64_t us = std::chrono::round<microseconds>(time).count();
    texts.push_back(fmt::format("{}{} us {}", sign, WithThousands(us),
                                CoarseText(graph_, subject.what)));
    if (subject.rank.valid()) {
      texts.back() +=
          fmt::format(" of rank {}", graph_.data().ranks[subject.rank].number);
    }
  }
  return texts.empty() ? "a little of everything" : Join(texts, ", ");
}

// Ranks that do the same are best compared. Where one's way was over its host
// and the other's over its device, all is different and tells nothing.
std::string Blamer::Explain(sim::TaskId first, sim::TaskId last) const {
  const Duration skew =
      schedule_.placements[last].start - schedule_.placements[first].start;
  const Spent excess = Excess(first, last);
  Duration more{};
  for (const auto& [subject, time] : excess) {
    more += std::max(time, Duration{});
  }
  if (more * Alike::den <= skew * Alike::num) {
    return fmt::format("rank {} against rank {}: {}", NumberOf(last),
                       NumberOf(first), Tell(excess, skew, "+"));
  }
  return fmt::format("rank {} while rank {} waited: {}", NumberOf(last),
                     NumberOf(first),
                     Tell(SpentMeanwhile(first, last), skew, ""));
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
    found.blame = Explain(*first, *last_first);
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
