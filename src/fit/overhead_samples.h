// Measured pieces of the host's time, and delays of the device, by the names a
// table of overheads has them under.
#ifndef STEPCAST_FIT_OVERHEAD_SAMPLES_H_
#define STEPCAST_FIT_OVERHEAD_SAMPLES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cost/overheads/overhead_table.h"
#include "ir/graph.h"

namespace stepcast::fit {

struct OverheadSample {
  double us = 0;
  uint32_t events = 0;
  /// Samples of one workload: a run that was recorded, all ranks and steps.
  uint32_t workload = 0;
};

struct OverheadSamples {
  using ByName =
      std::map<std::string, std::vector<OverheadSample>, std::less<>>;
  std::array<ByName, cost::kOverheadPartCount> parts;
  size_t steps = 0;  // Of every rank.

  ByName& operator[](cost::OverheadPart part) {
    return parts[static_cast<size_t>(part)];
  }
  const ByName& operator[](cost::OverheadPart part) const {
    return parts[static_cast<size_t>(part)];
  }
  size_t size() const;
};

/// Adds what one measured step has of each. A call that waits for the device
/// counts as a call where it returned at once, else only its return does.
/// Silent waits do not count.
/// With `wanted`, only those of ranks for which it is true.
void AddSamples(const ir::GraphData& data, uint32_t workload,
                OverheadSamples& samples,
                const std::function<bool(ir::RankId)>& wanted = nullptr);

}  // namespace stepcast::fit

#endif  // STEPCAST_FIT_OVERHEAD_SAMPLES_H_
