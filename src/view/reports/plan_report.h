// Plans side by side, and the best of them rank by rank.
#ifndef STEPCAST_VIEW_REPORTS_PLAN_REPORT_H_
#define STEPCAST_VIEW_REPORTS_PLAN_REPORT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/find_plan.h"
#include "plan/problem.h"
#include "view/doc.h"
#include "view/reports/prediction.h"

namespace stepcast::view {

/// What was asked.
struct PlanSubject {
  std::string workload{};
  std::string platform{};
  std::string gpu{};
  int64_t num_gpus = 1;
  int64_t nodes = 1;
  int64_t batch_per_gpu = 0;
  std::string precision{};
};

/// A sharder's plan.
struct PlanRow {
  std::string sharder{};
  std::optional<double> step_us{};  // Simulated.
  double cost_us = 0;               // By the sum of parts.
  plan::Cost cost{};
  double hbm_bytes = 0;  // Of the fullest rank.
  bool fits = true;
  int64_t evaluations = 0;
};

/// A rank of the best plan, in the columns of TorchRec's table.
struct PlanRank {
  int rank = 0;
  double hbm_bytes = 0;
  double ddr_bytes = 0;  // Of tables on the host.
  double forward_compute_us = 0;
  double forward_comms_us = 0;
  double backward_compute_us = 0;
  double backward_comms_us = 0;
  double input_bytes = 0;   // Ids that it looks up.
  double output_bytes = 0;  // Vectors that it makes.
  std::array<int64_t, plan::kShardingCount> shards{};

  double perf_us() const {
    return forward_compute_us + forward_comms_us + backward_compute_us +
           backward_comms_us;
  }
};

/// A table of the best plan.
struct PlanTable {
  std::string name{};
  int64_t rows = 0;
  int64_t dim = 0;
  double pooling = 0;
  plan::Sharding sharding = plan::Sharding::kTableWise;
  std::vector<int> ranks{};
};

struct PlanReport {
  PlanSubject subject{};
  double hbm_capacity_bytes = 0;  // Of a GPU, as far as plans may use it.
  std::vector<PlanRow> rows{};
  size_t best = 0;
  std::vector<PlanRank> ranks{};
  std::vector<PlanTable> tables{};
  int64_t evaluations = 0;
  int simulations = 0;
  bool stopped = false;
  std::optional<plan::WhyNot> why_not{};  // Nothing fits.
  std::string why_not_text{};
  std::vector<std::string> notes{};

  const PlanRow& best_row() const { return rows[best]; }
  /// That of a sharder; null if it is not there.
  const PlanRow* RowOf(std::string_view sharder) const;
};

PlanReport ReportPlans(const plan::Problem& problem,
                       const plan::FoundPlans& found, PlanSubject subject);

/// Plans side by side, and the best of them rank by rank.
Doc PlanDoc(const PlanReport& report);
/// The same with the step of the best plan, which must live as long as the
/// document.
Doc PlanDoc(const PlanReport& report, const PredictionReport& step,
            const engine::StepResult& result);

}  // namespace stepcast::view

#endif  // STEPCAST_VIEW_REPORTS_PLAN_REPORT_H_
