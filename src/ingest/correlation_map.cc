#include "ingest/correlation_map.h"

#include <algorithm>
#include <limits>

#include "ingest/link.h"

namespace stepcast::ingest {
namespace {

// The table may have this many entries a call before a hash map is smaller.
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
  const uint64_t span = static_cast<uint64_t>(highest - lowest) + 1;
  if (span / kMostEntriesPerCall <= calls.size()) {
    first_ = lowest;
    table_.assign(span, kNoEvent);
  }
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].correlation >= 0 &&
        !Insert(calls[i].correlation, static_cast<uint32_t>(i))) {
      ++duplicates_;
    }
  }
}

uint32_t CorrelationMap::Find(int64_t correlation) const {
  if (correlation < 0) {
    return kNoEvent;
  }
  if (!table_.empty()) {
    const bool inside =
        correlation >= first_ &&
        static_cast<uint64_t>(correlation - first_) < table_.size();
    return inside ? table_[static_cast<size_t>(correlation - first_)]
                  : kNoEvent;
  }
  const auto found = sparse_.find(correlation);
  return found == sparse_.end() ? kNoEvent : found->second;
}

bool CorrelationMap::Insert(int64_t correlation, uint32_t call) {
  if (table_.empty()) {
    return sparse_.emplace(correlation, call).second;
  }
  uint32_t& entry = table_[static_cast<size_t>(correlation - first_)];
  if (entry != kNoEvent) {
    return false;
  }
  entry = call;
  return true;
}

}  // namespace stepcast::ingest
