#include "scenario/scenario_text.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/files/toml_read.h"
#include "base/json/json_read.h"
#include "base/text/join.h"
#include "cost/overheads/overhead_table.h"
#include "engine/run/cpu_runtime.h"
#include "hw/device.h"
#include "hw/node.h"
#include "model/frameworks/implementations.h"
#include "model/read_model.h"
#include "scenario/settings.h"

namespace stepcast::scenario {
namespace {

// The names of a list of things; none if it cannot be had.
template <typename Things>
std::vector<std::string> NamesOfAll(const Things& things) {
  std::vector<std::string> names;
  for (const auto& thing : things) {
    names.emplace_back(thing.name);
  }
  return names;
}

}  // namespace

std::vector<std::string> ModelWords() {
  return NamesOfAll(model::LoadModels().value_or(std::vector<model::Model>()));
}

std::vector<std::string> PlacementWords() {
  return {"hbm",  "uvm",    "uvm-cache", "host-cache",
          "host", "remote", "hybrid",    "hybrid-remote"};
}

std::vector<std::string> ModeWords() {
  return {"train", "infer"};
}

std::vector<std::string> PrecisionWords() {
  return {"fp32", "tf32", "amp-fp16", "fp16", "bf16"};
}

std::vector<std::string> ImplWords() {
  return NamesOfAll(model::Implementations());
}

std::vector<std::string> CudaGraphWords() {
  return {"off", "fwd", "fwd+bwd", "all"};
}

std::vector<std::string> PlatformWords() {
  return NamesOfAll(hw::LoadPlatforms().value_or(std::vector<hw::Node>()));
}

std::vector<std::string> GpuWords() {
  return hw::GpuNames();
}

std::vector<std::string> ServerWords() {
  return NamesOfAll(hw::LoadServers().value_or(std::vector<hw::Node>()));
}

std::vector<std::string> RuntimeWords() {
  return NamesOfAll(engine::CpuRuntimes());
}

std::vector<std::string> OverheadWords() {
  std::vector<std::string> words = cost::OverheadNames();
  words.insert(words.end(), {"self", "measured"});
  return words;
}

std::vector<std::string> SwitchWords() {
  return {"on", "off"};
}

namespace {

constexpr std::string_view kVerbKey = "command";
constexpr std::string_view kKey = "scenario";
constexpr std::string_view kArgumentsKey = "arguments";

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

// Sets a member; false if the value is of another type.
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

// In TOML numbers need no quotes.
std::optional<std::string> TextOf(const toml::node& node) {
  if (node.is_integer()) {
    return fmt::format("{}", node.as_integer()->get());
  }
  if (node.is_floating_point()) {
    return fmt::format("{}", node.as_floating_point()->get());
  }
  return node.value<std::string>();
}

// Whether the node is of the member's kind. A list of one may stand without
// brackets.
bool Take(const toml::node& node, bool& member) {
  member = node.value<bool>().value_or(false);
  return node.is_boolean();
}
bool Take(const toml::node& node, std::string& member) {
  const auto text = TextOf(node);
  member = text.value_or("");
  return text.has_value();
}
bool Take(const toml::node& node, std::vector<std::string>& member) {
  const toml::array* const array = node.as_array();
  if (array == nullptr) {
    return Take(node, member.emplace_back());
  }
  return std::ranges::all_of(*array, [&](const toml::node& item) {
    return Take(item, member.emplace_back());
  });
}

bool SetMember(const Setting& setting, const toml::node& node,
               Scenario& scenario) {
  return std::visit([&](auto member) { return Take(node, scenario.*member); },
                    setting.member);
}

void Write(JsonWriter& json, bool value) {
  json.Bool(value);
}
void Write(JsonWriter& json, const std::string& value) {
  json.String(value);
}
void Write(JsonWriter& json, const std::vector<std::string>& values) {
  json.BeginArray();
  for (const std::string& value : values) {
    json.String(value);
  }
  json.EndArray();
}

template <typename Node>
Status ReadMember(std::string_view name, const Node& value,
                  std::string_view source, Scenario& scenario) {
  const Setting* const setting = FindSetting(name);
  if (setting == nullptr) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{}: scenario: {}", source, UnknownSetting(name)));
  }
  return SetMember(*setting, value, scenario)
             ? Status()
             : Fail(ErrorCode::kInvalidInput,
                    fmt::format("{}: scenario has another type of value for "
                                "'{}' than stepcast writes",
                                source, name));
}

// Paths of `file` as they read here; see SeenFrom.
void MovePaths(std::string_view file, const Setting& setting,
               std::string& value) {
  value = SeenFrom(file, setting, value);
}
void MovePaths(std::string_view file, const Setting& setting,
               std::vector<std::string>& values) {
  for (std::string& value : values) {
    MovePaths(file, setting, value);
  }
}
void MovePaths(std::string_view /*file*/, const Setting& /*setting*/,
               bool /*value*/) {}

// A basic string of TOML.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char letter : text) {
    constexpr unsigned char kFirstPrintable = 0x20;
    constexpr unsigned char kDelete = 0x7f;
    const auto byte = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      quoted += '\\';
      quoted += letter;
    } else if (byte < kFirstPrintable || byte == kDelete) {
      quoted += fmt::format("\\u{:04x}", byte);
    } else {
      quoted += letter;
    }
  }
  return quoted + "\"";
}

Result<Scenario> ReadScenario(const JsonValue& value, std::string_view source) {
  Scenario scenario;
  Status read;
  const bool whole =
      value.ForEachMember([&](std::string_view name, const JsonValue& member) {
        if (read) {
          read = ReadMember(name, member, source, scenario);
        }
      });
  RETURN_IF_ERROR(read);
  if (!whole) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{}: scenario is not an object", source));
  }
  return scenario;
}

Status ReadArguments(const JsonValue& value, std::string_view source,
                     Question& question) {
  bool lists = true;
  const bool whole = value.ForEachMember([&](std::string_view name,
                                             const JsonValue& member) {
    const auto list = ListOf(member);
    lists = lists && list.has_value();
    question.arguments.emplace(name, list.value_or(std::vector<std::string>()));
  });
  return whole && lists
             ? Status()
             : Fail(
                   ErrorCode::kInvalidInput,
                   fmt::format("{}: arguments are not lists of words", source));
}

void WriteScenario(JsonWriter& json, const Scenario& scenario) {
  json.BeginObject();
  for (const Setting& setting : Settings()) {
    if (!setting.IsSet(scenario)) {
      continue;
    }
    json.Key(setting.name);
    std::visit([&](auto member) { Write(json, scenario.*member); },
               setting.member);
  }
  json.EndObject();
}

std::string TomlOf(bool value) {
  return value ? "true" : "false";
}
std::string TomlOf(const std::string& value) {
  return Quoted(value);
}
std::string TomlOf(const std::vector<std::string>& values) {
  std::vector<std::string> items(values.size());
  std::ranges::transform(values, items.begin(), Quoted);
  return fmt::format("[{}]", Join(items, ", "));
}

}  // namespace

void WriteQuestion(JsonWriter& json, const Question& question) {
  json.Key(kVerbKey);
  json.String(question.verb);
  json.Key(kKey);
  WriteScenario(json, question.scenario);
  if (question.arguments.empty()) {
    return;
  }
  json.Key(kArgumentsKey);
  json.BeginObject();
  for (const auto& [name, values] : question.arguments) {
    json.Key(name);
    json.BeginArray();
    for (const std::string& value : values) {
      json.String(value);
    }
    json.EndArray();
  }
  json.EndObject();
}

Result<std::optional<Question>> ReadQuestion(std::string_view report,
                                             std::string_view source) {
  const auto bytes = OpenMemory(report);
  JsonRecordReader reader(*bytes, {});
  std::optional<Question> question;
  std::string verb;
  for (;;) {
    ASSIGN_OR_RETURN(const auto item, reader.Next());
    if (!item) {
      break;
    }
    if (item->key == kVerbKey) {
      verb = TextOf(item->value);
    } else if (item->key == kKey) {
      ASSIGN_OR_RETURN(question.emplace().scenario,
                       ReadScenario(item->value, source));
    } else if (item->key == kArgumentsKey && question) {
      RETURN_IF_ERROR(ReadArguments(item->value, source, *question));
    } else if (question) {
      break;  // They come first.
    }
  }
  if (question) {
    question->verb = verb;
  }
  return question;
}

std::string ScenarioToml(const Scenario& scenario) {
  std::string text = "[scenario]\n";
  for (const Setting& setting : Settings()) {
    if (!setting.IsSet(scenario)) {
      continue;
    }
    const std::string value = std::visit(
        [&](auto member) { return TomlOf(scenario.*member); }, setting.member);
    text += fmt::format("{} = {}\n", setting.name, value);
  }
  return text;
}

Result<std::optional<Scenario>> ReadScenarioToml(std::string_view text,
                                                 std::string_view source) {
  ASSIGN_OR_RETURN(const toml::table file, ParseToml(text, source));
  const toml::node* const node = file.get(kKey);
  if (node == nullptr) {
    return std::nullopt;
  }
  if (!node->is_table() || file.size() != 1) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{}: a scenario along with other keys; expected "
                            "[scenario] alone",
                            source));
  }
  Scenario scenario;
  for (const auto& [key, value] : *node->as_table()) {
    const Status read = ReadMember(key.str(), value, source, scenario);
    if (!read) {
      return FailAt(value, read.error().message);
    }
  }
  for (const Setting& setting : Settings()) {
    std::visit(
        [&](auto member) { MovePaths(source, setting, scenario.*member); },
        setting.member);
  }
  return scenario;
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
