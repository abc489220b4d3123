#include "plan/simulate_plan.h"

#include <utility>

#include "workload/table_deal.h"

namespace stepcast::plan {

Simulate MakeSimulator(const engine::Request& request, double capacity_bytes) {
  return [&request, capacity_bytes,
          tables = workload::SingleTables(request.model.tables)](
             const Plan& plan) -> Result<Simulated> {
    engine::Request dealt = request;
    const engine::Machine& machine = request.machine;
    if (machine.ranks > 1) {
      dealt.deal = DealOf(plan, tables,
                          {.count = machine.ranks, .nodes = machine.nodes});
    }
    ASSIGN_OR_RETURN(const engine::ModelPrediction predicted,
                     engine::PredictModel(dealt, {}));
    return Simulated{.step = predicted.result.step,
                     .hbm_bytes = predicted.memory.total(),
                     .fits = predicted.memory.total() <= capacity_bytes};
  };
}

}  // namespace stepcast::plan
