#include "cli/compare_side.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "scenario/settings.h"

namespace stepcast::cli {
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

Status ReadSide(const std::string& text, PredictCommand& command) {
  const size_t at =
      std::filesystem::exists(text) ? std::string::npos : text.find('@');
  command.scenario.workload = {text.substr(0, at)};
  std::string_view rest = at == std::string::npos
                              ? std::string_view()
                              : std::string_view(text).substr(at + 1);
  std::vector<std::string_view> pairs;
  while (!rest.empty()) {
    pairs.push_back(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(pairs.back().size() + 1, rest.size()));
    LeaveToOther(pairs.back().substr(0, pairs.back().find('=')),
                 command.scenario);
  }
  scenario::Scenario whole = command.scenario;
  for (const std::string_view pair : pairs) {
    RETURN_IF_ERROR(scenario::SetSetting(pair, text, whole));
  }
  // Options may be meant for the other side alone; what stands here may not.
  scenario::ClearOthers(IsModel(command.scenario.workload)
                            ? scenario::SubjectOfModel(whole)
                            : scenario::Subject::kTrace,
                        command.scenario);
  for (const std::string_view pair : pairs) {
    RETURN_IF_ERROR(scenario::SetSetting(pair, text, command.scenario));
  }
  return {};
}

}  // namespace stepcast::cli
