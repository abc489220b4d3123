// The options that say which step is meant: one for each setting.
#include <filesystem>
#include <string>
#include <type_traits>
#include <variant>

#include <fmt/format.h>

#include "cli/predict_command.h"
#include "scenario/settings.h"
#include "workload/model_files.h"

namespace stepcast::cli {
namespace {

void AddSetting(OptionParser& parser, const scenario::Setting& setting,
                scenario::Scenario& scenario) {
  const std::string option = fmt::format("--{}", setting.name);
  std::visit(
      [&]<typename T>(T scenario::Scenario::*member) {
        if constexpr (std::is_same_v<T, bool>) {
          parser.AddFlag(option, scenario.*member, setting.help);
        } else if constexpr (std::is_same_v<T, std::string>) {
          parser.Add(option, scenario.*member, setting.help, setting.value);
        } else {
          parser.AddRepeated(option, scenario.*member, setting.help,
                             setting.value);
        }
      },
      setting.member);
}

}  // namespace

void AddWorkloadOptions(OptionParser& parser, PredictCommand& command) {
  AddInputOptions(parser, command.input);
  for (const scenario::Setting& setting : scenario::Settings()) {
    if (!setting.OfFleets()) {
      AddSetting(parser, setting, command.scenario);
    }
  }
}

void AddFleetOptions(OptionParser& parser, PredictCommand& command) {
  for (const scenario::Setting& setting : scenario::Settings()) {
    if (setting.OfFleets()) {
      AddSetting(parser, setting, command.scenario);
    }
  }
}

bool IsModel(const std::vector<std::string>& files) {
  if (files.size() != 1) {
    return files.empty();
  }
  return workload::IsModelName(files.front()) ||
         files.front().ends_with(".toml") ||
         !std::filesystem::exists(files.front());
}

Status CheckOptions(const PredictCommand& command) {
  for (const std::string& profile : command.scenario.profile) {
    if (!std::filesystem::is_directory(profile)) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("profile {} is no directory; expected one that "
                              "`stepcast fit` wrote",
                              profile));
    }
  }
  if (!IsModel(command.input.files)) {
    return scenario::CheckSubject(command.scenario, scenario::Subject::kTrace);
  }
  if (!command.input.rank.empty() || !command.input.rules.empty()) {
    return Fail(
        ErrorCode::kInvalidInput,
        fmt::format("--{} means nothing for a model; it is of a recorded step",
                    command.input.rank.empty() ? "rules" : "rank"));
  }
  return scenario::CheckSubject(command.scenario,
                                scenario::SubjectOfModel(command.scenario));
}

}  // namespace stepcast::cli
