#include "ingest/correlation_map.h"

#include <algorithm>
#include <limits>

#include "ingest/link.h"

namespace stepcast::ingest {
namespace {

// The table may have this many entries a call before a sorted list is smaller.
constexpr uint64_t kMostEntriesPerCall = 16;

}  // namespace

CorrelationMap::CorrelationMap(const std::vector<RuntimeEvent>& calls) {
  int64_t lowest = std::numeric_limits<int64_t>::max();
  int64_t highest = -1;
  for (const RuntimeEvent& call : calls) {
    if (call.correlation >= 0) {
      lowest = std::min(lowest, call.correlation);
      highest = std::max(highest, call.correlation);
    }
  }
  if (highest < 0) {
    return;
  }
  first_ = lowest;
  const uint64_t span = static_cast<uint64_t>(highest - lowest) + 1;
  if (span / kMostEntriesPerCall <= calls.size()) {
    FillTable(calls, span);
  } else {
    FillSorted(calls);
  }
}

void CorrelationMap::FillTable(const std::vector<RuntimeEvent>& calls,
                               uint64_t span) {
  table_.assign(span, kNoEvent);
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].correlation < 0) {
      continue;
    }
    uint32_t& entry =
        table_[static_cast<size_t>(calls[i].correlation - first_)];
    if (entry == kNoEvent) {
      entry = static_cast<uint32_t>(i);
    } else {
      ++duplicates_;
    }
  }
}

void CorrelationMap::FillSorted(const std::vector<RuntimeEvent>& calls) {
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].correlation >= 0) {
      sorted_.emplace_back(calls[i].correlation, static_cast<uint32_t>(i));
    }
  }
  std::ranges::sort(sorted_);
  const auto same_id = [](const auto& a, const auto& b) {
    return a.first == b.first;
  };
  const auto rest = std::unique(sorted_.begin(), sorted_.end(), same_id);
  duplicates_ = sorted_.end() - rest;
  sorted_.erase(rest, sorted_.end());
}

uint32_t CorrelationMap::Find(int64_t correlation) const {
  if (!table_.empty()) {
    const bool inside =
        correlation >= first_ &&
        static_cast<uint64_t>(correlation - first_) < table_.size();
    return inside ? table_[static_cast<size_t>(correlation - first_)]
                  : kNoEvent;
  }
  const auto found = std::ranges::lower_bound(
      sorted_, correlation, {}, &std::pair<int64_t, uint32_t>::first);
  return found != sorted_.end() && found->first == correlation ? found->second
                                                               : kNoEvent;
}

}  // namespace stepcast::ingest
