#include "ingest/match_collectives.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "ingest/oddities.h"

namespace stepcast::ingest {
namespace {

// How many collectives from the first on have the same kind on every rank.
size_t CommonLength(std::span<const AddedRank> ranks) {
  size_t length = ranks.front().collectives.size();
  for (const AddedRank& rank : ranks) {
    const auto& first = ranks.front().collectives;
    const auto& other = rank.collectives;
    length = std::min(length, other.size());
    for (size_t i = 0; i < length; ++i) {
      if (first[i].shape.kind != other[i].shape.kind) {
        length = i;
      }
    }
  }
  return length;
}

}  // namespace

void MatchCollectives(std::span<const AddedRank> ranks,
                      ir::GraphBuilder& builder, Diagnostics& diagnostics) {
  if (ranks.size() < 2) {
    return;
  }
  const size_t length = CommonLength(ranks);
  for (size_t i = 0; i < length; ++i) {
    ir::MatchedCollective matched{.kind =
                                      ranks.front().collectives[i].shape.kind};
    for (const AddedRank& rank : ranks) {
      matched.works.push_back(rank.collectives[i].work);
    }
    builder.AddCollective(std::move(matched));
  }
  for (size_t i = 0; i < ranks.size(); ++i) {
    const size_t left = ranks[i].collectives.size() - length;
    if (left > 0) {
      diagnostics.Add(kUnmatchedCollective,
                      fmt::format("{} on the rank at place {}", left, i),
                      static_cast<int64_t>(left));
    }
  }
}

}  // namespace stepcast::ingest
