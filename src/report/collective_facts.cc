#include "report/collective_facts.h"

#include <algorithm>
#include <optional>
#include <variant>

namespace stepcast::report {
namespace {

// Nothing if some work of the collective has no time.
std::optional<CollectiveFacts> MatchedFacts(
    const ir::GraphData& graph, const ir::MatchedCollective& matched) {
  CollectiveFacts facts{.kind = matched.kind,
                        .ranks = static_cast<int64_t>(matched.works.size())};
  Duration first_start = Duration::max();
  Duration last_start = Duration::min();
  Duration first_end = Duration::max();
  Duration last_end = Duration::min();
  for (const ir::WorkId id : matched.works) {
    const ir::Work& work = graph.works[id];
    if (!StartOf(work.measured) || !work.stream.valid()) {
      return std::nullopt;
    }
    const ir::Rank& rank = graph.ranks[graph.streams[work.stream].rank];
    if (!StartOf(rank.step)) {
      return std::nullopt;
    }
    const Duration start = *rank.step->start + *work.measured->start;
    const Duration end = start + work.measured->duration;
    if (start > last_start) {
      last_start = start;
      facts.last_rank = rank.number;
    }
    first_start = std::min(first_start, start);
    first_end = std::min(first_end, end);
    last_end = std::max(last_end, end);
    if (const auto* shape =
            std::get_if<ir::Collective>(&graph.shapes[work.shape])) {
      facts.bytes = std::max(facts.bytes, shape->bytes);
    }
  }
  facts.start = first_start;
  facts.skew = last_start - first_start;
  facts.own = last_end - last_start;
  facts.end_skew = last_end - first_end;
  return facts;
}

}  // namespace

std::vector<CollectiveFacts> FindCollectiveFacts(const ir::Graph& graph) {
  std::vector<CollectiveFacts> list;
  for (const ir::MatchedCollective& matched : graph.data().collectives) {
    if (matched.works.size() < 2) {
      continue;
    }
    if (auto facts = MatchedFacts(graph.data(), matched)) {
      list.push_back(*facts);
    }
  }
  std::ranges::stable_sort(list, {}, [](const CollectiveFacts& facts) {
    return facts.start + facts.skew;
  });
  return list;
}

}  // namespace stepcast::report
