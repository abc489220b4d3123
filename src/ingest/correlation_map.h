// Finds the runtime call with a given correlation id.
#ifndef STEPCAST_INGEST_CORRELATION_MAP_H_
#define STEPCAST_INGEST_CORRELATION_MAP_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "ingest/profiler_trace.h"

namespace stepcast::ingest {

/// Ids are given out one after another, so that a plain table usually serves;
/// sparse ones are sorted and searched.
class CorrelationMap {
 public:
  explicit CorrelationMap(const std::vector<RuntimeEvent>& calls);

  /// Position of the first call with this id, or kNoEvent.
  uint32_t Find(int64_t correlation) const;
  /// Calls whose id an earlier call had.
  int64_t duplicates() const { return duplicates_; }

 private:
  void FillTable(const std::vector<RuntimeEvent>& calls, uint64_t span);
  void FillSorted(const std::vector<RuntimeEvent>& calls);

  int64_t first_ = 0;
  std::vector<uint32_t> table_;
  std::vector<std::pair<int64_t, uint32_t>> sorted_;  // Id and call.
  int64_t duplicates_ = 0;
};

}  // namespace stepcast::ingest

#endif  // STEPCAST_INGEST_CORRELATION_MAP_H_
