#include "scenario/settings.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <type_traits>

#include <fmt/format.h>

#include "base/text/nearest.h"
#include "base/text/value_text.h"
#include "hw/figures.h"

namespace stepcast::scenario {
namespace {

// Whether two names are the same but for `_` and `-`.
bool SameName(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return x == y || ((x == '_' || x == '-') && (y == '_' || y == '-'));
  });
}

// What to do instead of setting it there.
std::string Advice(const Setting& setting, Subject subject) {
  if (subject == Subject::kTrace && !setting.instead.empty()) {
    return std::string(setting.instead);
  }
  std::string subjects;
  for (const Subject other :
       {Subject::kModel, Subject::kServer, Subject::kFleet, Subject::kTrace}) {
    if (setting.subjects.Has(other)) {
      subjects +=
          fmt::format("{}{}", subjects.empty() ? "" : ", ", Describe(other));
    }
  }
  return fmt::format("it is of {}", subjects);
}

}  // namespace

std::string_view Title(Section section) {
  switch (section) {
    case Section::kWorkload:
      return "recorded steps";
    case Section::kModel:
      return "model";
    case Section::kRun:
      return "how it is run";
    case Section::kMachine:
      return "machine";
    case Section::kFleet:
      return "fleet of servers";
    case Section::kFigures:
      return "figures of the machine";
    case Section::kTimes:
      return "times";
  }
  return "";
}

std::string_view Describe(Subject subject) {
  switch (subject) {
    case Subject::kModel:
      return "a model on GPUs";
    case Subject::kServer:
      return "a model on servers without GPUs";
    case Subject::kFleet:
      return "a fleet of servers";
    case Subject::kTrace:
      return "a recorded step";
  }
  return "";
}

bool Subjects::Has(Subject subject) const {
  switch (subject) {
    case Subject::kModel:
      return model;
    case Subject::kServer:
      return server;
    case Subject::kFleet:
      return fleet;
    case Subject::kTrace:
      return trace;
  }
  return false;
}

bool Setting::OfFleets() const {
  return section == Section::kFleet;
}

bool Setting::IsList() const {
  return std::holds_alternative<std::vector<std::string> Scenario::*>(member);
}

bool Setting::OfRequest() const {
  constexpr std::string_view kOverheads = "overheads";
  return apply != nullptr &&
         (section == Section::kModel || section == Section::kRun ||
          section == Section::kMachine || section == Section::kFigures ||
          name == kOverheads);
}

std::string Setting::Key() const {
  std::string key(column.empty() ? name : column);
  std::ranges::replace(key, '-', '_');
  return key;
}

bool Setting::IsSet(const Scenario& scenario) const {
  return std::visit(
      [&]<typename T>(T Scenario::*field) { return scenario.*field != T{}; },
      member);
}

const Setting* FindSetting(std::string_view name) {
  for (const Setting& setting : Settings()) {
    if (SameName(setting.name, name) ||
        (!setting.alias.empty() && SameName(setting.alias, name))) {
      return &setting;
    }
  }
  return nullptr;
}

size_t IndexOf(const Setting& setting) {
  return static_cast<size_t>(&setting - Settings().data());
}

std::string UnknownSetting(std::string_view name) {
  std::vector<std::string_view> names;
  std::ranges::transform(Settings(), std::back_inserter(names), &Setting::name);
  std::ranges::sort(names);
  return Unknown("setting", name, names);
}

Result<Value> ParseValue(const Setting& setting, std::string_view text) {
  Value value{.text = std::string(text)};
  if (setting.type == ValueType::kWord) {
    return value;
  }
  const char* const end = text.data() + text.size();
  if (setting.type == ValueType::kWhole) {
    const auto [stop, error] = std::from_chars(text.data(), end, value.whole);
    value.number = static_cast<double>(value.whole);
    if (error == std::errc() && stop == end && value.number >= setting.least &&
        value.number <= setting.most) {
      return value;
    }
  } else {
    const auto number = ParseQuantity(text, setting.unit);
    value.number = number.value_or(0);
    if (number && value.number >= setting.least &&
        value.number <= setting.most) {
      return value;
    }
  }
  constexpr double kUnbounded = 1e15;  // Nobody means more.
  const std::string range =
      setting.most < kUnbounded
          ? fmt::format("from {} to {}", setting.least, setting.most)
          : fmt::format("of {} or more", setting.least);
  return Fail(
      ErrorCode::kInvalidInput,
      fmt::format("{} is '{}'; expected a {} {}{}{}", setting.name, text,
                  setting.type == ValueType::kWhole ? "whole number" : "number",
                  range, setting.unit.empty() ? "" : " ", setting.unit));
}

std::string SeenFrom(std::string_view file, const Setting& setting,
                     std::string_view text) {
  // "box.toml@nic_gbs=50" is a path and a figure.
  const std::string_view name = hw::NameBeforeFigures(text);
  const std::filesystem::path path =
      std::filesystem::path(file).parent_path() / name;
  const bool always = setting.value == "FILE" || setting.value == "DIR";
  // A recording has any ending; all else that may be a file has this one.
  const bool is_path = always || name.ends_with(".toml") ||
                       (setting.member == Member(&Scenario::workload) &&
                        std::filesystem::exists(path));
  return setting.type == ValueType::kWord && is_path && !name.empty()
             ? path.string() + std::string(text.substr(name.size()))
             : std::string(text);
}

Status SetSetting(std::string_view text, std::string_view where,
                  Scenario& scenario) {
  const size_t equals = std::min(text.find('='), text.size());
  const std::string_view name = text.substr(0, equals);
  const Setting* const setting = FindSetting(name);
  if (setting == nullptr) {
    return Fail(ErrorCode::kInvalidInput, UnknownSetting(name));
  }
  if (!setting->IsFlag() && equals == text.size()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} has no value in '{}'; expected NAME=VALUE",
                            name, where));
  }
  const std::string value(text.substr(std::min(equals + 1, text.size())));
  if (const auto* const list =
          std::get_if<std::vector<std::string> Scenario::*>(&setting->member)) {
    (scenario.**list).insert((scenario.**list).begin(), value);
    return {};
  }
  return SetValue(*setting, equals == text.size() ? "true" : value, scenario);
}

Status SetValue(const Setting& setting, std::string_view text,
                Scenario& scenario) {
  return std::visit(
      [&]<typename T>(T Scenario::*member) -> Status {
        if constexpr (std::is_same_v<T, bool>) {
          if (text != "true" && text != "false") {
            return Fail(ErrorCode::kInvalidInput,
                        fmt::format("{} is '{}'; expected true or false",
                                    setting.name, text));
          }
          scenario.*member = text == "true";
        } else {
          scenario.*member = T{std::string(text)};
        }
        return {};
      },
      setting.member);
}

Subject SubjectOfModel(const Scenario& scenario) {
  const bool on_gpus = !scenario.gpu.empty() || !scenario.platform.empty();
  if (on_gpus && scenario.trainers.empty()) {
    return Subject::kModel;
  }
  const bool fleet =
      std::ranges::any_of(Settings(), [&](const Setting& setting) {
        return setting.OfFleets() && setting.IsSet(scenario);
      });
  return fleet                     ? Subject::kFleet
         : scenario.server.empty() ? Subject::kModel
                                   : Subject::kServer;
}

void ClearOthers(Subject subject, Scenario& scenario) {
  for (const Setting& setting : Settings()) {
    if (!setting.subjects.Has(subject)) {
      std::visit([&]<typename T>(T Scenario::*field) { scenario.*field = T{}; },
                 setting.member);
    }
  }
}

Status CheckSubject(const Scenario& scenario, Subject subject) {
  for (const Setting& setting : Settings()) {
    if (setting.subjects.Has(subject) || !setting.IsSet(scenario)) {
      continue;
    }
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} means nothing for {}; {}", setting.name,
                            Describe(subject), Advice(setting, subject)));
  }
  return {};
}

}  // namespace stepcast::scenario
