// A plan from a file, for a request.
#ifndef STEPCAST_PLAN_LOAD_ASSIGNMENT_H_
#define STEPCAST_PLAN_LOAD_ASSIGNMENT_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/run/request.h"
#include "plan/plan_json.h"

namespace stepcast::plan {

/// The tables of a model with the names that plans have for them.
std::vector<NamedTable> NamedTablesOf(const model::Model& model);

/// Tables are sharded as TorchRec's plan in the file says. Fails for requests
/// of one GPU or of another implementation.
Status LoadAssignment(const std::string& path, engine::Request& request);

}  // namespace stepcast::plan

#endif  // STEPCAST_PLAN_LOAD_ASSIGNMENT_H_
