#include "api/ask.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/nearest.h"

namespace stepcast::api {
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
