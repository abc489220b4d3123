#include "api/ask.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/text/nearest.h"
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

Status Rerun(scenario::Question& question) {
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

namespace {

Status CheckQuestion(const Verb& verb, const scenario::Question& question) {
  for (const auto& [name, values] : question.arguments) {
    if (std::ranges::find(verb.arguments, std::string_view(name),
                          &Argument::name) == verb.arguments.end()) {
      std::vector<std::string_view> known;
      for (const Argument& argument : verb.arguments) {
        known.push_back(argument.name);
      }
      return Fail(
          ErrorCode::kInvalidInput,
          known.empty()
              ? fmt::format("{} takes no argument '{}'", verb.name, name)
              : Unknown(fmt::format("argument of {}", verb.name), name, known));
    }
  }
  for (const scenario::Setting& setting : scenario::Settings()) {
    if (setting.IsSet(question.scenario) && !verb.takes(setting)) {
      return Fail(
          ErrorCode::kInvalidInput,
          fmt::format("{} means nothing for {}", setting.name, verb.name));
    }
  }
  return {};
}

}  // namespace

std::string_view Version() {
  return STEPCAST_VERSION;
}

Status Options::Check() const {
  return IsCancelled() ? Fail(ErrorCode::kIo,
                              "stopped before an answer was "
                              "there")
                       : Status();
}

std::span<const Verb> Verbs() {
  static const std::vector<Verb> kVerbs = {
      PredictVerb(),       DoctorVerb(),   ReplayVerb(),  WhatifVerb(),
      CompareVerb(),       PlanVerb(),     ExploreVerb(), EvalKernelsVerb(),
      EvalOverheadsVerb(), EvalStepsVerb()};
  return kVerbs;
}

const Verb* FindVerb(std::string_view name) {
  const std::span<const Verb> verbs = Verbs();
  const auto found = std::ranges::find(verbs, name, &Verb::name);
  return found == verbs.end() ? nullptr : &*found;
}

Result<Answer> Ask(const scenario::Question& question, const Options& options) {
  const Verb* const verb = FindVerb(question.verb);
  if (verb == nullptr) {
    std::vector<std::string_view> known;
    for (const Verb& other : Verbs()) {
      known.push_back(other.name);
    }
    return Fail(ErrorCode::kInvalidInput,
                Unknown("command", question.verb, known));
  }
  RETURN_IF_ERROR(CheckQuestion(*verb, question));
  if (!verb->is_search) {
    RETURN_IF_ERROR(options.Check());
  }
  ASSIGN_OR_RETURN(Answer answer, verb->ask(question, options));
  if (options.process.number > 0) {
    return answer;  // The first process has it.
  }
  answer.doc.asked = question;
  answer.doc.version = Version();
  if (answer.whole) {
    answer.whole->asked = question;
    answer.whole->version = Version();
  }
  return answer;
}

}  // namespace stepcast::api
