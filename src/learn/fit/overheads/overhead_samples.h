// Measured segments of the host's time, and delays of the device, by their
// names in a table of overheads.
#ifndef STEPCAST_LEARN_FIT_OVERHEADS_OVERHEAD_SAMPLES_H_
#define STEPCAST_LEARN_FIT_OVERHEADS_OVERHEAD_SAMPLES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cost/kernel_models.h"
#include "cost/machine.h"
#include "cost/overheads/overhead_table.h"
#include "cost/profile.h"
#include "ir/graph.h"
#include "learn/measured/kernel_rows.h"

namespace stepcast::learn {

// What a processor takes around the operators it runs, from whole steps: what
// is left of their times when the operators are priced.

/// One step that was timed without a profiler.
struct HostStep {
  std::string name;
  double measured_us = 0;
  double activities_us = 0;  // Of its operators, as priced.
  size_t ops = 0;            // Top-level ops: each has a gap before it.
};

/// Prices the activities of a recorded step.
HostStep PriceStep(const ir::Graph& graph, const cost::KernelModels& models);

/// Microseconds a gap: the number that makes the steps' relative errors least
/// in the sense of squares; never negative. 0 without steps.
double FitGap(std::span<const HostStep> steps);

/// A table in which every gap takes so long and nothing else takes any time:
/// operators are priced with all that they call.
cost::OverheadData GapTable(std::span<const HostStep> steps, double gap_us,
                            std::vector<std::string> provenance);

// What eager calls cost a benchmark, from its shortest kernels.

/// Sets the launch cost of every op that has event-timed rows on this GPU:
/// the floor is the median of the tenth of the fit rows with the smallest
/// kernels, the lead a share of it that does not depend on the GPU.
void FitLaunches(const KernelRows& rows, uint16_t gpu,
                 const cost::Machine& machine, cost::Profile& profile);

/// Convolutions were measured on a host that slowed down: fits what the lead
/// grows by from the first row of a file to its last, on the fit part, with
/// `kernel_us` as the kernels' own times.
struct DriftInput {
  std::vector<double> kernel_us;
  std::vector<double> time_us;
  std::vector<double> place;
};
void FitDrift(const DriftInput& input, bool scale_is_free,
              cost::LaunchCost& launch);

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

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_FIT_OVERHEADS_OVERHEAD_SAMPLES_H_
