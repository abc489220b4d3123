#include "hw/read_figure.h"

#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace stepcast::hw {

Result<Figure> ReadFigure(const toml::node& node, const FigureRange& range) {
  const toml::table* table = node.as_table();
  if (table == nullptr) {
    return FailAt(node, fmt::format("'{}' must be a table with 'value' and "
                                    "'source'",
                                    range.key));
  }
  constexpr std::array<std::string_view, 2> kKeys = {"value", "source"};
  RETURN_IF_ERROR(CheckKeys(*table, kKeys));
  const auto value = (*table)["value"].value<double>();
  if (!value) {
    return FailAt(*table,
                  fmt::format("'{}' has no number as its 'value'", range.key));
  }
  if (!(*value >= range.low && *value <= range.high)) {
    return FailAt(
        *table, fmt::format("{} is {}; expected {} to {} {}", range.key, *value,
                            range.low, range.high, range.unit));
  }
  ASSIGN_OR_RETURN(std::string source, GetString(*table, "source"));
  return Figure{.value = *value, .source = std::move(source)};
}

}  // namespace stepcast::hw
