#include "cli/ask_again.h"

#include <array>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
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

Status AskAgain(PredictCommand& command) {
  InputOptions& input = command.input;
  if (input.files.size() == 1 && IsReport(input.files.front())) {
    const std::string path = input.files.front();
    ASSIGN_OR_RETURN(const std::string report, ReadFile(path));
    ASSIGN_OR_RETURN(auto question, scenario::ReadQuestion(report, path));
    if (!question) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{} is a report without a scenario; expected one "
                              "that this version of `stepcast predict --json` "
                              "wrote",
                              path));
    }
    scenario::PutOnTop(command.scenario, question->scenario);
    command.scenario = std::move(question->scenario);
    input.files = std::move(question->workload);
    input.rank = input.rank.empty() ? question->rank : input.rank;
    input.rules = input.rules.empty() ? question->rules : input.rules;
    if (command.algorithms.empty()) {
      command.algorithms = std::move(question->algorithm);
    }
  }
  for (const std::string& text : command.sets) {
    RETURN_IF_ERROR(scenario::SetSetting(text, text, command.scenario));
  }
  return {};
}

scenario::Question QuestionOf(const PredictCommand& command) {
  return {.workload = command.input.files,
          .scenario = command.scenario,
          .rank = command.input.rank,
          .rules = command.input.rules,
          .algorithm = command.algorithms};
}

}  // namespace stepcast::cli
