#include "api/ask_again.h"

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

namespace stepcast::api {

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

// The question of a file that has one: a report, or a scenario of its own.
Result<std::optional<scenario::Question>> ReadAsked(const std::string& path) {
  if (IsReport(path)) {
    ASSIGN_OR_RETURN(const std::string report, ReadFile(path));
    ASSIGN_OR_RETURN(auto asked, scenario::ReadQuestion(report, path));
    if (!asked) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{} is a report without a scenario; expected one "
                              "that this version of stepcast wrote with --json",
                              path));
    }
    return asked;
  }
  if (path.ends_with(".toml") && std::filesystem::exists(path)) {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    // Files of models and studies are not parsed for it.
    const bool may_have = text.find("[scenario]") != std::string::npos;
    ASSIGN_OR_RETURN(auto scenario, may_have
                                        ? scenario::ReadScenarioToml(text, path)
                                        : std::optional<scenario::Scenario>());
    if (scenario) {
      return scenario::Question{
          .verb = "", .scenario = *std::move(scenario), .arguments = {}};
    }
  }
  return std::nullopt;
}

}  // namespace

Status AskAgain(scenario::Question& question) {
  if (question.scenario.workload.size() != 1) {
    return {};
  }
  ASSIGN_OR_RETURN(std::optional<scenario::Question> asked,
                   ReadAsked(question.scenario.workload.front()));
  if (!asked) {
    return {};
  }
  question.scenario.workload.clear();
  scenario::PutOnTop(question.scenario, asked->scenario);
  question.scenario = std::move(asked->scenario);
  if (asked->verb == question.verb) {
    question.arguments.merge(std::move(asked->arguments));
  }
  return {};
}

}  // namespace stepcast::api
