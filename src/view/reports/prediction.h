// A predicted step as people and scripts want to know it.
#ifndef STEPCAST_VIEW_REPORTS_PREDICTION_H_
#define STEPCAST_VIEW_REPORTS_PREDICTION_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "cost/estimate.h"
#include "cost/kernel_models.h"
#include "engine/explain/account.h"
#include "engine/explain/limits.h"
#include "engine/explain/step_result.h"
#include "view/doc.h"
#include "view/reports/breakdown.h"
#include "view/reports/path_summary.h"

namespace stepcast::view {

/// What was asked.
struct PredictionSubject {
  std::string workload{};
  std::string platform{};     // Empty: none was named.
  std::string gpu{};          // Or the server, if it has none.
  bool server = false;        // Processors do the work; ranks are processes.
  int64_t num_gpus = 1;       // Or processes.
  int64_t batch_per_gpu = 0;  // 0: not known, as of a trace.
  std::string precision{};
  std::string mode{};
  std::string impl{};       // Empty for traces.
  std::string overheads{};  // The name of the set, or "measured".
  std::string window{};     // What the step time is of: "steady step", ...
};

/// Device memory of the fullest rank.
struct MemoryUse {
  double hbm_bytes = 0;
  double hbm_capacity_bytes = 0;
  double host_bytes = 0;  // Of tables, on the node that has most.
  double host_capacity_bytes = 0;
  /// By what it is for, the largest first.
  std::vector<std::pair<std::string, double>> parts;
  bool fits_device() const { return hbm_bytes <= hbm_capacity_bytes; }
  bool fits_host() const { return host_bytes <= host_capacity_bytes; }
  bool fits() const { return fits_device() && fits_host(); }
};

/// What a rank of a trace was measured with.
struct MeasuredStep {
  int64_t rank = 0;
  Duration step{};
};

struct PredictionReport {
  PredictionSubject subject;
  Duration step{};
  engine::StepInterval interval{};
  /// Over all GPUs; 0 if the batch is not known, or if nothing would run
  /// because it does not fit.
  double samples_per_s = 0;
  engine::RankAccount slowest;
  std::vector<engine::RankAccount> ranks;
  PathSummary critical_path;  // Within the reported step.
  engine::StepLimits limits;
  std::array<double, cost::kOriginCount> coverage{};
  /// Shares of the host's time by how it was found; see OverheadSource.
  std::array<double, cost::kOverheadSourceCount> overhead_coverage{};
  /// What was not found by its own name, the longest first.
  std::vector<std::pair<std::string, Duration>> estimated_overheads;
  std::optional<MemoryUse> memory;
  double power_w = 0;  // Of all servers; 0: not known.
  double samples_per_joule = 0;
  std::vector<MeasuredStep> measured;
  OpTable ops;  // Of the slowest rank, if asked for.
  /// Of a recording: what its kernels are priced with.
  const cost::KernelModels* models = nullptr;
  std::vector<std::string> notes;  // Assumptions that matter.

  /// Sets the step time and what follows from it.
  void UseStep(Duration time);
  /// Whether it would run, as far as memory is known.
  bool fits() const { return !memory || memory->fits(); }
};

/// `times` are those that the step was simulated with, if it was edited.
PredictionReport ReportPrediction(const engine::StepResult& result,
                                  PredictionSubject subject,
                                  const sim::TaskTimes* times = nullptr);

/// "dlrm_mlperf on 8 x h100-sxm-80gb (hgx-h100), batch 8,192 per GPU, train,
/// ...".
std::string SubjectText(const PredictionSubject& subject);

/// "host-bound: ..."
std::string StepVerdict(const PredictionReport& report);

/// Keys are as the command line promises them. Without `step` there is no
/// timeline; with it, it must live as long as the document.
Doc PredictionDoc(const PredictionReport& report,
                  const engine::StepResult* step = nullptr);

}  // namespace stepcast::view

#endif  // STEPCAST_VIEW_REPORTS_PREDICTION_H_
