// Collectives of ranks that share a model's tables, sized from their plans.
#ifndef STEPCAST_WORKLOAD_IMPL_EXCHANGE_H_
#define STEPCAST_WORKLOAD_IMPL_EXCHANGE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "ir/shape.h"
#include "workload/model.h"
#include "workload/rank_plan.h"

namespace stepcast::workload {

/// The stream of collectives, as the profiler numbers it in the 8-rank DLRM
/// trace; the same on every rank.
inline constexpr int64_t kCollectiveStream = 84;

/// What ranks make for the samples of one of them, in elements: vectors, ids
/// or lengths.
struct Portions {
  int64_t own = 0;                 // By this rank.
  int64_t all = 0;                 // By all together.
  std::vector<int64_t> by_rank{};  // Empty: not known.
};

/// Portions of `elements` for each unit of `part` of the loads. `own` and `all`
/// count if the plan has no loads.
Portions PortionsOf(const RankPlan& plan, int64_t RankLoad::*part,
                    int64_t elements, const Portions& known);

/// The portions that hold something, one by one; of plans without loads, as if
/// all that make some made as much.
std::vector<int64_t> PartsOf(const RankPlan& plan, const Portions& portions);

/// Every rank has `portions.own` for each other one and gets their portions:
/// vectors to where their samples are. Where splits are not known, the bytes
/// are those of the busier way, so that a rank which sends nothing has some.
ir::Collective ToSamples(const RankPlan& plan, const Portions& portions,
                         ir::DType dtype);
/// The way back: ids and gradients to where the tables are.
ir::Collective ToTables(const RankPlan& plan, const Portions& portions,
                        ir::DType dtype);

/// `elements` of this rank's input, all ranks alike.
ir::Collective Collect(ir::CollectiveKind kind, const RankPlan& plan,
                       int64_t elements, ir::DType dtype);

int64_t TablesOf(std::span<const TableGroup> tables);
int64_t ColumnsOf(std::span<const TableGroup> tables);
/// Numbers of all tables.
int64_t ElementsOf(std::span<const TableGroup> tables);

}  // namespace stepcast::workload

#endif  // STEPCAST_WORKLOAD_IMPL_EXCHANGE_H_
