#include "explore/columns.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace stepcast::explore {
namespace {

constexpr std::string_view kRow = "row";
constexpr std::string_view kPoint = "point";
constexpr std::string_view kBoundBy = "bound_by";
constexpr std::string_view kNote = "note";

bool HasPoints(const Study& study) {
  return std::ranges::find(study.axes, kPoint, &Axis::name) != study.axes.end();
}

void Mark(const std::vector<Setting>& settings, std::vector<bool>& used) {
  for (const Setting& setting : settings) {
    used[setting.kind] = true;
  }
}

std::vector<std::string> NamesOf(const std::vector<bool>& used) {
  std::vector<std::string> names;
  for (size_t i = 0; i < used.size(); ++i) {
    if (used[i]) {
      names.emplace_back(scenario::Settings()[i].Key());
    }
  }
  return names;
}

}  // namespace

std::vector<std::string> ColumnNames(const Study& study) {
  std::vector<bool> used(scenario::Settings().size());
  Mark(study.base, used);
  for (const Axis& axis : study.axes) {
    for (const AxisValue& value : axis.values) {
      Mark(value.settings, used);
    }
  }
  std::vector<std::string> names = {std::string(kRow)};
  if (HasPoints(study)) {
    names.emplace_back(kPoint);
  }
  for (std::string& name : NamesOf(used)) {
    names.push_back(std::move(name));
  }
  for (const NumberColumn& column : NumberColumns()) {
    names.emplace_back(column.name);
  }
  names.emplace_back(kBoundBy);
  names.emplace_back(kNote);
  return names;
}

std::optional<std::string_view> UnitOfColumn(std::string_view column) {
  if (const auto number = FindNumber(column)) {
    return NumberColumns()[static_cast<size_t>(*number)].unit;
  }
  if (const auto kind = FindKind(column)) {
    const scenario::Setting& setting = scenario::Settings()[*kind];
    return setting.type == scenario::ValueType::kWord
               ? std::nullopt
               : std::optional(setting.unit);
  }
  return column == kRow ? std::optional(std::string_view()) : std::nullopt;
}

std::vector<std::string> VaryingColumns(const Study& study) {
  std::vector<std::string> names;
  for (const Axis& axis : study.axes) {
    if (axis.values.size() > 1) {
      names.push_back(axis.name);
    }
  }
  return names;
}

void CellReader::Seek(int64_t row) {
  row_ = row;
  values_ = designer_.ValuesOf(row);
  settings_ = designer_.SettingsOf(row);
}

Cell CellReader::at(std::string_view column) const {
  if (const auto number = FindNumber(column)) {
    const double value = row().at(*number);
    return std::isnan(value) ? Cell()
                             : Cell{.text = NumberText(value), .number = value};
  }
  if (const auto kind = FindKind(column)) {
    const auto found = std::ranges::find(settings_, *kind, &Setting::kind);
    return found == settings_.end()
               ? Cell()
               : Cell{.text = found->value.text, .number = found->value.number};
  }
  if (column == kRow) {
    return {.text = fmt::format("{}", row_),
            .number = static_cast<double>(row_)};
  }
  if (column == kBoundBy) {
    return {.text = row().bound_by};
  }
  if (column == kNote) {
    return {.text = row().note};
  }
  const auto& axes = explored_.study.axes;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].name == column) {
      return {.text = axes[i].values[values_[i]].label};
    }
  }
  return {};
}

std::string NumberText(double number) {
  constexpr double kWhole = 1e6;
  return std::abs(number) >= kWhole && std::abs(number) < 1e15
             ? fmt::format("{:.0f}", number)
             : fmt::format("{:.6g}", number);
}

}  // namespace stepcast::explore
