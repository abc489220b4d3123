#include "plan/simulate_plan.h"

#include <utility>

#include "workload/table_deal.h"

namespace stepcast::plan {

Simulate MakeSimulator(engine::Predictor& predictor,
                       const engine::Request& request, double capacity_bytes) {
  return [&predictor, &request, capacity_bytes,
          tables = workload::SingleTables(request.model.tables)](
             const Plan& plan) -> Result<Simulated> {
    engine::Request dealt = request;
    if (request.gpus > 1) {
      dealt.deal =
          DealOf(plan, tables, {.count = request.gpus, .nodes = request.nodes});
    }
    ASSIGN_OR_RETURN(const engine::ModelPrediction predicted,
                     predictor.Predict(dealt, {}));
    return Simulated{.step = predicted.result.step,
                     .hbm_bytes = predicted.memory.total(),
                     .fits = predicted.memory.total() <= capacity_bytes};
  };
}

}  // namespace stepcast::plan
