// The text form of tables of overheads: one TOML section a part, one line a
// name.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/toml_read.h"
#include "cost/overheads/overhead_table.h"

namespace stepcast::cost {
namespace {

constexpr std::string_view kName = "name";
constexpr std::string_view kProfiler = "profiler_us_per_event";
constexpr std::string_view kColumns =
    "count, mean_us, std_us, p10_us, p50_us, p90_us, events";
constexpr size_t kColumnCount = 7;
// Longer than any step; what is above is a mistake.
constexpr double kMostUs = 1e9;
constexpr double kMostCount = 1e15;  // Exact in a double.

// A basic string of TOML.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      fmt::format_to(std::back_inserter(quoted), "\\u{:04x}", c);
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::optional<OverheadPart> FindPart(std::string_view name) {
  for (size_t i = 0; i < kOverheadPartCount; ++i) {
    const auto part = static_cast<OverheadPart>(i);
    if (Name(part) == name) {
      return part;
    }
  }
  return std::nullopt;
}

Result<OverheadRow> ReadRow(const toml::node& node) {
  const toml::array* list = node.as_array();
  std::array<double, kColumnCount> values{};
  bool good = list != nullptr && list->size() == kColumnCount;
  for (size_t i = 0; good && i < kColumnCount; ++i) {
    const auto value = (*list)[i].value<double>();
    good = value && *value >= 0 && *value <= (i == 0 ? kMostCount : kMostUs);
    values[i] = value.value_or(0);
  }
  if (!good || values[3] > values[4] || values[4] > values[5]) {
    return FailAt(node, fmt::format("expected [{}]: seven numbers from 0 up, "
                                    "the quantiles in order",
                                    kColumns));
  }
  return OverheadRow{.count = static_cast<int64_t>(values[0]),
                     .mean_us = values[1],
                     .std_us = values[2],
                     .p10_us = values[3],
                     .p50_us = values[4],
                     .p90_us = values[5],
                     .events = values[6]};
}

Status ReadPart(std::string_view name, const toml::node& node,
                OverheadData& data) {
  const auto part = FindPart(name);
  const toml::table* rows = node.as_table();
  if (!part || rows == nullptr) {
    std::vector<std::string_view> known = {kName, kProfiler};
    for (size_t i = 0; i < kOverheadPartCount; ++i) {
      known.push_back(Name(static_cast<OverheadPart>(i)));
    }
    return FailAt(node, part ? fmt::format("'{}' must be a table", name)
                             : fmt::format("unknown key '{}'; expected one "
                                           "of: {}",
                                           name, fmt::join(known, ", ")));
  }
  for (const auto& [key, row] : *rows) {
    ASSIGN_OR_RETURN(data[*part][std::string(key.str())], ReadRow(row));
  }
  return {};
}

// The comments before anything else.
std::vector<std::string> LeadingComments(std::string_view text) {
  std::vector<std::string> lines;
  while (text.starts_with('#')) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(1, end - 1);
    if (line.starts_with(' ')) {
      line.remove_prefix(1);
    }
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

std::string OverheadText(const OverheadData& data) {
  std::string text;
  auto out = std::back_inserter(text);
  for (const std::string& line : data.provenance) {
    fmt::format_to(out, "# {}\n", line);
  }
  fmt::format_to(out, "\n{} = {}\n{} = {:.4g}\n", kName, Quoted(data.name),
                 kProfiler, data.profiler_us_per_event);
  fmt::format_to(out, "\n# A row is [{}].\n", kColumns);
  for (size_t i = 0; i < kOverheadPartCount; ++i) {
    if (data.parts[i].empty()) {
      continue;
    }
    fmt::format_to(out, "\n[{}]\n", Name(static_cast<OverheadPart>(i)));
    for (const auto& [name, row] : data.parts[i]) {
      fmt::format_to(
          out, "{} = [{}, {:.3f}, {:.3f}, {:.3f}, {:.3f}, {:.3f}, {:.2f}]\n",
          Quoted(name), row.count, row.mean_us, row.std_us, row.p10_us,
          row.p50_us, row.p90_us, row.events);
    }
  }
  return text;
}

Result<OverheadData> ParseOverheads(std::string_view text,
                                    std::string_view source) {
  ASSIGN_OR_RETURN(const toml::table table, ParseToml(text, source));
  OverheadData data;
  data.provenance = LeadingComments(text);
  ASSIGN_OR_RETURN(data.name, GetString(table, kName));
  const toml::node* profiler = table.get(kProfiler);
  const auto cost = profiler == nullptr ? std::optional<double>(0)
                                        : profiler->value<double>();
  constexpr double kMostProfilerUs = 1000;  // A millisecond an event.
  if (!cost || !(*cost >= 0 && *cost <= kMostProfilerUs)) {
    return FailAt(*profiler, fmt::format("'{}' must be a number from 0 to {}",
                                         kProfiler, kMostProfilerUs));
  }
  data.profiler_us_per_event = *cost;
  for (const auto& [key, node] : table) {
    if (key.str() != kName && key.str() != kProfiler) {
      RETURN_IF_ERROR(ReadPart(key.str(), node, data));
    }
  }
  return data;
}

}  // namespace stepcast::cost
