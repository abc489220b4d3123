// The options that say which step is meant: one for each setting.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include <fmt/format.h>

#include "cli/predict_command.h"
#include "scenario/settings.h"
#include "workload/model_files.h"

namespace stepcast::cli {
namespace {

bool OfPredictAlone(const scenario::Setting& setting) {
  return setting.OfFleets() ||
         setting.member == scenario::Member(&scenario::Scenario::algorithm);
}

// "of what is drawn; default 1".
std::string HelpOf(const scenario::Setting& setting) {
  const bool plain = setting.IsFlag() || setting.standard == "none" ||
                     setting.section == scenario::Section::kModel ||
                     setting.section == scenario::Section::kFigures;
  return plain ? std::string(setting.help)
               : fmt::format("{}; default: {}", setting.help, setting.standard);
}

void AddSetting(OptionParser& parser, const scenario::Setting& setting,
                scenario::Scenario& scenario) {
  if (setting.member == scenario::Member(&scenario::Scenario::workload)) {
    parser.Add("WORKLOAD", scenario.workload, setting.help, "");
    return;
  }
  const std::string option = fmt::format("--{}", setting.name);
  const std::string help = HelpOf(setting);
  std::visit(
      [&]<typename T>(T scenario::Scenario::*member) {
        if constexpr (std::is_same_v<T, bool>) {
          parser.AddFlag(option, scenario.*member, help);
        } else if constexpr (std::is_same_v<T, std::string>) {
          parser.Add(option, scenario.*member, help, setting.value);
        } else {
          parser.AddRepeated(option, scenario.*member, help, setting.value);
        }
      },
      setting.member);
}

// Those that `wanted` says, under headings.
template <typename Wanted>
void AddSettings(OptionParser& parser, scenario::Scenario& scenario,
                 const Wanted& wanted) {
  using scenario::Section;
  for (const Section section :
       {Section::kRun, Section::kMachine, Section::kFleet, Section::kModel,
        Section::kFigures, Section::kTimes, Section::kWorkload}) {
    parser.BeginGroup(scenario::Title(section));
    for (const scenario::Setting& setting : scenario::Settings()) {
      if (setting.section == section && wanted(setting)) {
        AddSetting(parser, setting, scenario);
      }
    }
  }
  parser.BeginGroup("");
}

}  // namespace

InputOptions InputOf(const PredictCommand& command) {
  return {.files = command.scenario.workload,
          .rules = command.scenario.rules,
          .rank = command.scenario.rank,
          .threads = command.threads};
}

void AddWorkloadOptions(OptionParser& parser, PredictCommand& command) {
  AddSettings(parser, command.scenario, [](const scenario::Setting& setting) {
    return !OfPredictAlone(setting);
  });
  parser.Add("--threads", command.threads,
             "threads that read traces; 0, the default: one per core", "N");
}

void AddPredictOptions(OptionParser& parser, PredictCommand& command) {
  AddSettings(parser, command.scenario, OfPredictAlone);
}

void AddPlanSettings(OptionParser& parser, scenario::Scenario& scenario) {
  AddSettings(parser, scenario, [](const scenario::Setting& setting) {
    // What a plan decides itself, or has no interval for, and servers.
    constexpr std::string_view kOthers[] = {"plan",     "impl",   "samples",
                                            "profiled", "server", "algorithm"};
    return setting.subjects.model &&
           setting.section != scenario::Section::kFleet &&
           !setting.name.starts_with("server-") &&
           std::ranges::find(kOthers, setting.name) == std::end(kOthers);
  });
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
  if (!IsModel(command.scenario.workload)) {
    return scenario::CheckSubject(command.scenario, scenario::Subject::kTrace);
  }
  return {};
}

}  // namespace stepcast::cli
