#include "explore/row.h"

#include <algorithm>
#include <charconv>
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

namespace {

constexpr std::array<NumberColumn, kNumberCount> kColumns = {{
    {"samples_per_s", "1/s", "samples per second, over all GPUs or trainers"},
    {"step_us", "us", "time of a step"},
    {"p10_us", "us", "a tenth of the possible step times is shorter"},
    {"p50_us", "us", "the median of the possible step times"},
    {"p90_us", "us", "a tenth of them is longer"},
    {"gpu_active", "", "share of the step in which the GPU runs something"},
    {"host_busy", "", "share of the step in which the host does something"},
    {"gemm_us", "us", "of the step, in matrix products"},
    {"embedding_us", "us", "of the step, in lookups and their updates"},
    {"interaction_us", "us", "of the step, in the interaction"},
    {"elementwise_us", "us", "of the step, in elementwise kernels"},
    {"optimizer_us", "us", "of the step, in the dense optimizer"},
    {"other_us", "us", "of the step, in other kernels"},
    {"copies_us", "us", "of the step, in copies that nothing hides"},
    {"communication_us", "us", "of the step, in collectives, likewise"},
    {"idle_host_us", "us", "of the step, the GPU idle while the host works"},
    {"idle_launch_us", "us", "likewise, between a call and its kernel"},
    {"idle_sync_us", "us", "likewise, as the host comes back from a wait"},
    {"idle_wait_us", "us", "likewise, waiting for other ranks"},
    {"hbm_gb", "GB", "memory of the fullest GPU in use"},
    {"hbm_capacity_gb", "GB", "memory of a GPU"},
    {"host_gb", "GB", "tables in the memory of a node"},
    {"host_capacity_gb", "GB", "memory of a node"},
    {"servers_gb", "GB", "tables on all parameter servers"},
    {"servers_capacity_gb", "GB", "memory of all of them"},
    {"fits", "", "1 if all memories hold what they have to"},
    {"trainer_cpu", "", "share of the trainers' processors in use"},
    {"trainer_memory", "", "share of their memory's bandwidth"},
    {"trainer_network", "", "share of their network"},
    {"sparse_cpu", "", "share of the sparse servers' processors in use"},
    {"sparse_memory", "", "share of their memory's bandwidth"},
    {"sparse_network", "", "share of their network"},
    {"dense_cpu", "", "share of the dense servers' processors in use"},
    {"dense_memory", "", "share of their memory's bandwidth"},
    {"dense_network", "", "share of their network"},
    {"power_w", "W", "of all servers"},
    {"samples_per_joule", "1/J", "samples per second and watt"},
    {"samples_per_dollar", "1/$",
     "samples over what the servers cost in "
     "their life, where prices are known"},
}};

constexpr char kSeparator = '\t';
constexpr std::string_view kUnknown = "-";

// The text before the next separator; `rest` loses it.
std::string_view TakeField(std::string_view& rest) {
  const size_t end = rest.find(kSeparator);
  const std::string_view field = rest.substr(0, end);
  rest =
      end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return field;
}

std::string Plain(std::string text) {
  std::ranges::replace_if(
      text, [](char letter) { return letter == '\t' || letter == '\n'; }, ' ');
  return text;
}

}  // namespace

std::span<const NumberColumn> NumberColumns() {
  return kColumns;
}

std::optional<Number> FindNumber(std::string_view name) {
  const auto found = std::ranges::find(kColumns, name, &NumberColumn::name);
  if (found == kColumns.end()) {
    return std::nullopt;
  }
  return static_cast<Number>(found - kColumns.begin());
}

std::string RowText(const Row& row) {
  std::string text;
  for (const double number : row.numbers) {
    text +=
        std::isnan(number) ? std::string(kUnknown) : fmt::format("{}", number);
    text += kSeparator;
  }
  return text + Plain(row.bound_by) + kSeparator + Plain(row.note);
}

std::optional<Row> ParseRow(std::string_view text) {
  if (std::ranges::count(text, kSeparator) !=
      static_cast<std::ptrdiff_t>(kNumberCount) + 1) {
    return std::nullopt;
  }
  Row row;
  for (double& number : row.numbers) {
    const std::string_view field = TakeField(text);
    if (field == kUnknown) {
      continue;
    }
    const auto [end, error] =
        std::from_chars(field.data(), field.data() + field.size(), number);
    if (error != std::errc() || end != field.data() + field.size()) {
      return std::nullopt;
    }
  }
  row.bound_by = TakeField(text);
  row.note = text;
  return row;
}

}  // namespace stepcast::explore
