#include "workload/build_graph.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/nearest.h"
#include "workload/impl/implementations.h"

namespace stepcast::workload {

Result<ir::Graph> BuildGraph(const Model& model, const Settings& settings) {
  const auto all = Implementations();
  const auto found =
      std::ranges::find(all, settings.impl, &Implementation::name);
  if (found == all.end()) {
    std::vector<std::string_view> names;
    for (const Implementation& implementation : all) {
      names.push_back(implementation.name);
    }
    return Fail(ErrorCode::kInvalidInput,
                Unknown("implementation", settings.impl, names));
  }
  if (model.kind != ModelKind::kDlrm && !found->other_models) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("{} is a {} model, which implementation {} does "
                            "not run; expected pytorch",
                            model.name, Name(model.kind), found->name));
  }
  Settings complete = settings;
  if (complete.batch == 0) {
    complete.batch = model.batch;
  }
  if (complete.batch < 1 || complete.batch > kMostBatch) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("a batch of {} samples; expected 1 to {}",
                            complete.batch, kMostBatch));
  }
  return found->build({.model = model, .settings = complete});
}

std::vector<std::string> ImplementationNames() {
  std::vector<std::string> names;
  for (const Implementation& implementation : Implementations()) {
    names.emplace_back(implementation.name);
  }
  return names;
}

}  // namespace stepcast::workload
