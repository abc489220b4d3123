#include "scenario/question.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json_read.h"
#include "scenario/settings.h"

namespace stepcast::scenario {
namespace {

constexpr std::string_view kKey = "scenario";

// What a question has besides the table's settings.
constexpr std::string_view kRank = "rank";
struct ListMember {
  std::string_view name;
  std::vector<std::string> Question::*member = nullptr;
};
constexpr std::array kLists = {
    ListMember{.name = "workload", .member = &Question::workload},
    ListMember{.name = "rules", .member = &Question::rules},
    ListMember{.name = "algorithm", .member = &Question::algorithm},
};

void WriteList(JsonWriter& json, std::string_view name,
               const std::vector<std::string>& values) {
  if (values.empty()) {
    return;
  }
  json.Key(name).BeginArray();
  for (const std::string& value : values) {
    json.String(value);
  }
  json.EndArray();
}

std::string TextOf(const JsonValue& value) {
  std::string buffer;
  return std::string(JsonUnescape(value.raw_text(), buffer));
}

std::optional<std::vector<std::string>> ListOf(const JsonValue& value) {
  std::vector<std::string> list;
  bool strings = true;
  const bool whole = value.ForEachElement([&](const JsonValue& element) {
    strings = strings && element.is_string();
    list.push_back(TextOf(element));
  });
  return whole && strings ? std::optional(std::move(list)) : std::nullopt;
}

// Sets a member of the question; false if the value is of another type.
bool SetMember(const Setting& setting, const JsonValue& value,
               Scenario& scenario) {
  return std::visit(
      [&]<typename T>(T Scenario::*member) {
        if constexpr (std::is_same_v<T, bool>) {
          scenario.*member = value.raw() == "true";
          return scenario.*member || value.raw() == "false";
        } else if constexpr (std::is_same_v<T, std::string>) {
          scenario.*member = TextOf(value);
          return !value.is_object() && !value.is_array();
        } else {
          auto list = ListOf(value);
          scenario.*member = list.value_or(T{});
          return list.has_value();
        }
      },
      setting.member);
}

Status ReadMember(std::string_view name, const JsonValue& value,
                  std::string_view source, Question& question) {
  bool good = true;
  const auto* const list = std::ranges::find(kLists, name, &ListMember::name);
  if (list != kLists.end()) {
    auto values = ListOf(value);
    good = values.has_value();
    question.*(list->member) =
        std::move(values).value_or(std::vector<std::string>());
  } else if (name == kRank) {
    question.rank = TextOf(value);
  } else if (const Setting* const setting = FindSetting(name)) {
    good = SetMember(*setting, value, question.scenario);
  } else {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{}: scenario has '{}', which is no setting; "
                            "expected those of `stepcast list settings`",
                            source, name));
  }
  return good ? Status()
              : Fail(ErrorCode::kInvalidInput,
                     fmt::format("{}: scenario has another type of value for "
                                 "'{}' than stepcast writes",
                                 source, name));
}

}  // namespace

void WriteQuestion(JsonWriter& json, const Question& question) {
  json.BeginObject();
  for (const ListMember& list : kLists) {
    WriteList(json, list.name, question.*(list.member));
  }
  if (!question.rank.empty()) {
    json.Key(kRank).String(question.rank);
  }
  for (const Setting& setting : Settings()) {
    if (!setting.IsSet(question.scenario)) {
      continue;
    }
    std::visit(
        [&]<typename T>(T Scenario::*member) {
          const T& value = question.scenario.*member;
          if constexpr (std::is_same_v<T, bool>) {
            json.Key(setting.name).Bool(value);
          } else if constexpr (std::is_same_v<T, std::string>) {
            json.Key(setting.name).String(value);
          } else {
            WriteList(json, setting.name, value);
          }
        },
        setting.member);
  }
  json.EndObject();
}

Result<std::optional<Question>> ReadQuestion(std::string_view report,
                                             std::string_view source) {
  const auto bytes = OpenMemory(report);
  JsonRecordReader reader(*bytes, {});
  for (;;) {
    ASSIGN_OR_RETURN(const auto item, reader.Next());
    if (!item) {
      return std::nullopt;
    }
    if (item->key != kKey) {
      continue;
    }
    Question question;
    Status read;
    const bool whole = item->value.ForEachMember(
        [&](std::string_view name, const JsonValue& value) {
          if (read) {
            read = ReadMember(name, value, source, question);
          }
        });
    RETURN_IF_ERROR(read);
    if (!whole) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{}: scenario is no object", source));
    }
    return question;
  }
}

void PutOnTop(const Scenario& changes, Scenario& scenario) {
  for (const Setting& setting : Settings()) {
    if (setting.IsSet(changes)) {
      std::visit([&](auto member) { scenario.*member = changes.*member; },
                 setting.member);
    }
  }
}

}  // namespace stepcast::scenario
