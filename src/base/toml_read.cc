#define TOML_IMPLEMENTATION
#include "base/toml_read.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"

namespace stepcast {
namespace {

tl::unexpected<Error> FailAt(const toml::source_region& region,
                             std::string_view message) {
  const std::string source = region.path ? *region.path : "TOML";
  return Fail(ErrorCode::kInvalidInput,
              fmt::format("{}:{}: {}", source, region.begin.line, message));
}

}  // namespace

Result<toml::table> ParseToml(std::string_view text, std::string_view source) {
  toml::parse_result result = toml::parse(text, source);
  if (!result) {
    // toml++ starts its messages in upper case: "Error while parsing ...".
    std::string message(result.error().description());
    if (message.starts_with("Error ")) {
      message[0] = 'e';
    }
    return FailAt(result.error().source(), message);
  }
  return std::move(result).table();
}

Result<toml::table> LoadToml(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseToml(text, path.string());
}

tl::unexpected<Error> FailAt(const toml::node& node, std::string_view message) {
  return FailAt(node.source(), message);
}

Status CheckKeys(const toml::table& table,
                 std::span<const std::string_view> known) {
  for (const auto& [key, value] : table) {
    const std::string_view name = key.str();
    if (std::ranges::find(known, name) == known.end()) {
      return FailAt(key.source(),
                    fmt::format("unknown key '{}'; expected one of: {}", name,
                                fmt::join(known, ", ")));
    }
  }
  return {};
}

Result<std::string> GetOptionalString(const toml::table& table,
                                      std::string_view key) {
  const toml::node* node = table.get(key);
  if (node == nullptr) {
    return std::string();
  }
  if (!node->is_string()) {
    return FailAt(*node, fmt::format("'{}' must be a string", key));
  }
  return node->as_string()->get();
}

Result<std::string> GetString(const toml::table& table, std::string_view key) {
  ASSIGN_OR_RETURN(std::string text, GetOptionalString(table, key));
  if (text.empty()) {
    return FailAt(table, fmt::format("'{}' is missing or empty", key));
  }
  return text;
}

Result<std::vector<std::string>> GetStrings(const toml::table& table,
                                            std::string_view key) {
  const toml::array* list = table.get_as<toml::array>(key);
  if (list == nullptr || list->empty()) {
    return FailAt(table, fmt::format("'{}' must be a list of strings", key));
  }
  std::vector<std::string> texts;
  texts.reserve(list->size());
  for (const toml::node& node : *list) {
    if (!node.is_string() || node.as_string()->get().empty()) {
      return FailAt(node, fmt::format("'{}' must hold strings only, none of "
                                      "them empty",
                                      key));
    }
    texts.push_back(node.as_string()->get());
  }
  return texts;
}

}  // namespace stepcast
