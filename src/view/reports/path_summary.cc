#include "view/reports/path_summary.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/text/join.h"
#include "view/reports/text_parts.h"

namespace stepcast::view {
namespace {

using engine::PathKind;
using engine::PathPart;
using engine::PathPhrase;
using engine::PathSubject;

constexpr size_t kMostOfHop = 3;

struct PathSum {
  Duration time{};
  size_t times = 0;
};
using PathSums = std::map<PathSubject, PathSum>;

void Add(const PathPart& part, PathSums& sums, PathKinds& kinds) {
  const Duration time = part.end - part.begin;
  kinds[static_cast<size_t>(part.subject.kind)] += time;
  PathSum& sum = sums[part.subject];
  sum.time += time;
  sum.times += time > Duration{} ? 1 : 0;
}

void AddWait(const PathPart& part, PathWaits& waits) {
  const Duration time = part.end - part.begin;
  switch (part.subject.phrase) {
    case PathPhrase::kStepStart:
      waits.step_start += time;
      break;
    case PathPhrase::kThreadStart:
      waits.thread_start += time;
      break;
    case PathPhrase::kStepBefore:
      waits.step_before += time;
      break;
    default:
      break;
  }
}

// Names that are short are no longer all different.
std::vector<PathShare> Longest(const ir::Graph& graph, const PathSums& sums,
                               size_t count) {
  std::map<std::pair<PathKind, std::string>, PathSum> by_text;
  for (const auto& [subject, sum] : sums) {
    PathSum& all = by_text[{subject.kind, engine::Text(graph, subject)}];
    all.time += sum.time;
    all.times += sum.times;
  }
  std::vector<PathShare> shares;
  for (const auto& [key, sum] : by_text) {
    if (sum.time > Duration{}) {
      shares.push_back({.kind = key.first,
                        .what = key.second,
                        .time = sum.time,
                        .times = sum.times});
    }
  }
  std::ranges::stable_sort(shares, [](const PathShare& a, const PathShare& b) {
    return a.time > b.time;
  });
  shares.resize(std::min(shares.size(), count));
  return shares;
}

std::optional<ir::CollectiveId> CollectiveOf(const ir::GraphData& data,
                                             const timeline::Lowered& lowered,
                                             sim::TaskId task) {
  const timeline::TaskOrigin& origin = lowered.origins[task];
  if (origin.kind != timeline::TaskOrigin::Kind::kActivity ||
      !data.activities[origin.activity].collective.valid()) {
    return std::nullopt;
  }
  return data.activities[origin.activity].collective;
}

}  // namespace

PathSummary SummarizePath(const engine::StepResult& result,
                          std::span<const PathPart> parts) {
  const ir::Graph& graph = *result.graph;
  const ir::GraphData& data = graph.data();
  PathSummary summary;
  PathSums all;
  PathSums of_hop;
  const auto close_hop = [&](std::optional<ir::CollectiveId> collective) {
    if (!summary.hops.empty()) {
      summary.hops.back().most = Longest(graph, of_hop, kMostOfHop);
      summary.hops.back().collective = collective;
      of_hop.clear();
    }
  };
  for (size_t i = 0; i < parts.size(); ++i) {
    const PathPart& part = parts[i];
    if (i == 0 || part.rank != parts[i - 1].rank) {
      close_hop(i == 0 ? std::nullopt
                       : CollectiveOf(data, result.lowered, parts[i - 1].task));
      summary.hops.push_back(
          {.rank = data.ranks[part.rank].number, .begin = part.begin});
    }
    PathHop& hop = summary.hops.back();
    hop.end = part.end;
    Add(part, of_hop, hop.kinds);
    Add(part, all, summary.kinds);
    AddWait(part, summary.waits);
    summary.length += part.end - part.begin;
  }
  close_hop(std::nullopt);
  summary.longest = Longest(graph, all, kMostOfPath);
  return summary;
}

std::string PathKindsText(const PathKinds& kinds, Duration length) {
  constexpr int kHalfPercents = 200;
  std::vector<std::pair<Duration, size_t>> sorted;
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] > Duration{} && kinds[i] * kHalfPercents >= length) {
      sorted.emplace_back(kinds[i], i);
    }
  }
  std::ranges::stable_sort(
      sorted, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> texts;
  texts.reserve(sorted.size());
  for (const auto& [time, kind] : sorted) {
    texts.push_back(fmt::format("{} {}", Name(static_cast<PathKind>(kind)),
                                PercentText(time, length)));
  }
  return Join(texts, ", ");
}

}  // namespace stepcast::view
