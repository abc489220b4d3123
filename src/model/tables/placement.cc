#include "model/tables/placement.h"

#include <charconv>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/files/toml_read.h"
#include "base/text/nearest.h"
#include "model/model.h"
#include "model/tables/table_assignment.h"

namespace stepcast::model {
namespace {

constexpr std::pair<Placement, std::string_view> kPlacements[] = {
    {Placement::kHbm, "hbm"},
    {Placement::kUvm, "uvm"},
    {Placement::kUvmCache, "uvm-cache"},
    {Placement::kHostCache, "host-cache"},
    {Placement::kHost, "host"},
    {Placement::kRemote, "remote"}};

constexpr std::string_view kFileKeys[] = {"placement", "cache", "tables"};
constexpr std::string_view kPlacedTableKeys[] = {"numbers", "placement",
                                                 "cache"};

struct Place {
  Placement placement = Placement::kHbm;
  double cache = kUsualCache;
};

void Put(const Place& place, TableGroup& table) {
  table.placement = place.placement;
  table.cache = IsCached(place.placement) ? place.cache : 0;
}

bool IsShare(double value) {
  return value > 0 && value <= 1;
}

// "uvm-cache:0.05".
Result<Place> ParseWord(std::string_view word) {
  Place place;
  const size_t colon = word.find(':');
  ASSIGN_OR_RETURN(place.placement, ParsePlacement(word.substr(0, colon)));
  if (colon == std::string_view::npos) {
    return place;
  }
  const std::string_view share = word.substr(colon + 1);
  const auto [end, error] =
      std::from_chars(share.data(), share.data() + share.size(), place.cache);
  if (!IsCached(place.placement) || error != std::errc() ||
      end != share.data() + share.size() || !IsShare(place.cache)) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("placement '{}'; expected uvm-cache:S or "
                            "host-cache:S with a share S of the rows above 0 "
                            "and up to 1",
                            word));
  }
  return place;
}

Result<Place> ReadPlace(const toml::table& table, const Place& usual) {
  Place place = usual;
  ASSIGN_OR_RETURN(const std::string word,
                   GetOptionalString(table, "placement"));
  if (!word.empty()) {
    const auto parsed = ParsePlacement(word);
    if (!parsed) {
      return FailAt(*table.get("placement"), parsed.error().message);
    }
    place.placement = *parsed;
  }
  if (const toml::node* cache = table.get("cache")) {
    const auto share = cache->value<double>();
    if (!share || !IsShare(*share)) {
      return FailAt(*cache,
                    "cache is not a share; expected a number above 0 and up to "
                    "1");
    }
    place.cache = *share;
  }
  return place;
}

Status PlaceListed(const toml::table& section, const Place& usual,
                   std::vector<TableGroup>& tables) {
  RETURN_IF_ERROR(CheckKeys(section, kPlacedTableKeys));
  ASSIGN_OR_RETURN(const Place place, ReadPlace(section, usual));
  const toml::node* const numbers = section.get("numbers");
  if (numbers == nullptr || numbers->as_array() == nullptr) {
    return FailAt(section, "no 'numbers'; expected a list of tables, from 0");
  }
  for (const toml::node& item : *numbers->as_array()) {
    const auto number = item.value<int64_t>();
    if (!number || *number < 0 || *number >= std::ssize(tables)) {
      return FailAt(item,
                    fmt::format("no such table; expected a number from 0 to {}",
                                std::ssize(tables) - 1));
    }
    Put(place, tables[static_cast<size_t>(*number)]);
  }
  return {};
}

}  // namespace

std::string_view Name(Placement placement) {
  for (const auto& [value, name] : kPlacements) {
    if (value == placement) {
      return name;
    }
  }
  return "";
}

Result<Placement> ParsePlacement(std::string_view text) {
  std::vector<std::string_view> names;
  for (const auto& [value, name] : kPlacements) {
    if (name == text) {
      return value;
    }
    names.push_back(name);
  }
  return Fail(ErrorCode::kInvalidInput, Unknown("placement", text, names));
}

Status PlaceTablesByText(std::string_view text, std::string_view source,
                         Model& model) {
  ASSIGN_OR_RETURN(const toml::table file, ParseToml(text, source));
  RETURN_IF_ERROR(CheckKeys(file, kFileKeys));
  ASSIGN_OR_RETURN(const Place usual, ReadPlace(file, {}));
  std::vector<TableGroup> tables = SingleTables(model.tables);
  for (TableGroup& table : tables) {
    Put(usual, table);
  }
  if (const toml::node* list = file.get("tables")) {
    if (!list->is_array_of_tables()) {
      return FailAt(*list, "tables must be written as [[tables]] sections");
    }
    for (const toml::node& section : *list->as_array()) {
      RETURN_IF_ERROR(PlaceListed(*section.as_table(), usual, tables));
    }
  }
  model.tables = GroupTables(tables);
  return {};
}

Status PlaceTables(std::string_view word_or_file, Model& model) {
  if (word_or_file.ends_with(".toml")) {
    const std::string name(word_or_file);
    ASSIGN_OR_RETURN(const std::string text, ReadFile(name));
    return PlaceTablesByText(text, name, model);
  }
  ASSIGN_OR_RETURN(const Place place, ParseWord(word_or_file));
  for (TableGroup& table : model.tables) {
    Put(place, table);
  }
  return {};
}

}  // namespace stepcast::model
