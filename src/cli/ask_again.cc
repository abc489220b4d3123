#include "cli/ask_again.h"

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/file.h"
#include "scenario/scenario_text.h"
#include "scenario/settings.h"

namespace stepcast::cli {

bool IsReport(const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) {
    return false;
  }
  const auto source = OpenFile(path);
  std::array<char, 64> head{};
  const auto size = source ? (*source)->Read(head) : Result<size_t>(0);
  std::string text(head.data(), size.value_or(0));
  std::erase_if(text, [](char letter) {
    return std::string_view(" \r\n\t{").find(letter) != std::string_view::npos;
  });
  return text.starts_with("\"version\"");
}

namespace {

// The scenario of a file that has one: a report, or a file of its own.
Result<std::optional<scenario::Scenario>> ReadAsked(const std::string& path) {
  if (IsReport(path)) {
    ASSIGN_OR_RETURN(const std::string report, ReadFile(path));
    ASSIGN_OR_RETURN(auto asked, scenario::ReadScenario(report, path));
    if (!asked) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{} is a report without a scenario; expected one "
                              "that this version of `stepcast predict --json` "
                              "wrote",
                              path));
    }
    return asked;
  }
  if (path.ends_with(".toml") && std::filesystem::exists(path)) {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    return scenario::ReadScenarioToml(text, path);
  }
  return std::nullopt;
}

}  // namespace

Status AskAgain(PredictCommand& command) {
  const std::vector<std::string> files = command.scenario.workload;
  if (files.size() == 1) {
    ASSIGN_OR_RETURN(std::optional<scenario::Scenario> asked,
                     ReadAsked(files.front()));
    if (asked) {
      command.scenario.workload.clear();
      scenario::PutOnTop(command.scenario, *asked);
      command.scenario = *std::move(asked);
    }
  }
  for (const std::string& text : command.sets) {
    RETURN_IF_ERROR(scenario::SetSetting(text, text, command.scenario));
  }
  return {};
}

}  // namespace stepcast::cli
