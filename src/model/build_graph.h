// From a model and how it is run to the graph of one step.
#ifndef STEPCAST_MODEL_BUILD_GRAPH_H_
#define STEPCAST_MODEL_BUILD_GRAPH_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "model/model.h"
#include "model/settings.h"
#include "model/tables/rank_plan.h"

namespace stepcast::model {

/// What a step does, in the ops and launches that the implementation issues.
/// The graph has no times. Fails for models that the implementation
/// does not run.
Result<ir::Graph> BuildGraph(const Model& model, const Settings& settings);

/// The step of one rank of several: its part of the tables, and collectives
/// that wait for ranks which are not in the graph.
Result<ir::Graph> BuildRankGraph(const Model& model, const Settings& settings,
                                 const RankPlan& plan);

/// The names of the implementations, in the order they are shown.
std::vector<std::string> ImplementationNames();

}  // namespace stepcast::model

#endif  // STEPCAST_MODEL_BUILD_GRAPH_H_
