#include "api/compare_side.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "api/workload.h"
#include "scenario/settings.h"

namespace stepcast::api {
namespace {

// A side on servers leaves the GPUs of the options to the other one, and the
// other way round.
void LeaveToOther(std::string_view name, scenario::Scenario& scenario) {
  if (name == "server") {
    scenario.gpu.clear();
    scenario.gpus.clear();
    scenario.platform.clear();
  } else if (name == "gpu" || name == "platform") {
    scenario.server.clear();
    scenario.runtime.clear();
  }
}

}  // namespace

Status ReadSide(const std::string& text, scenario::Scenario& scenario) {
  const size_t at =
      std::filesystem::exists(text) ? std::string::npos : text.find('@');
  scenario.workload = {text.substr(0, at)};
  std::string_view rest = at == std::string::npos
                              ? std::string_view()
                              : std::string_view(text).substr(at + 1);
  std::vector<std::string_view> pairs;
  while (!rest.empty()) {
    pairs.push_back(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(pairs.back().size() + 1, rest.size()));
    LeaveToOther(pairs.back().substr(0, pairs.back().find('=')), scenario);
  }
  scenario::Scenario whole = scenario;
  for (const std::string_view pair : pairs) {
    RETURN_IF_ERROR(scenario::SetSetting(pair, text, whole));
  }
  // Options may be meant only for the other side; settings given here may not.
  scenario::ClearOthers(IsModel(scenario.workload)
                            ? scenario::SubjectOfModel(whole)
                            : scenario::Subject::kTrace,
                        scenario);
  for (const std::string_view pair : pairs) {
    RETURN_IF_ERROR(scenario::SetSetting(pair, text, scenario));
  }
  return {};
}

}  // namespace stepcast::api
