#include "plan/load_assignment.h"

#include <utility>

#include <fmt/format.h>

#include "base/files/file.h"
#include "model/frameworks/implementations.h"
#include "model/tables/table_assignment.h"
#include "plan/make_problem.h"

namespace stepcast::plan {

std::vector<NamedTable> NamedTablesOf(const model::Model& model) {
  std::vector<model::TableGroup> groups = model::SingleTables(model.tables);
  std::vector<NamedTable> tables(groups.size());
  for (size_t i = 0; i < groups.size(); ++i) {
    tables[i] = {.name = TableName(model, i), .group = std::move(groups[i])};
  }
  return tables;
}

Status LoadAssignment(const std::string& path, engine::Request& request) {
  const engine::Machine& machine = request.machine;
  if (machine.ranks <= 1) {
    return Fail(ErrorCode::kUnsupported,
                "a plan shards tables over several GPUs; expected --gpus 2 or "
                "more");
  }
  if (!request.settings.impl->plans) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("{} does not follow a plan; expected --impl "
                            "torchrec",
                            request.settings.impl->name));
  }
  if (machine.ranks % machine.nodes != 0) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("{} GPUs on {} nodes; expected as many on each, "
                            "for a plan",
                            machine.ranks, machine.nodes));
  }
  const Ranks ranks{.count = machine.ranks, .nodes = machine.nodes};
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ASSIGN_OR_RETURN(
      const Plan plan,
      ReadPlanJson(text, path, NamedTablesOf(request.model), ranks));
  request.assignment =
      AssignmentOf(plan, model::SingleTables(request.model.tables), ranks);
  return {};
}

}  // namespace stepcast::plan
