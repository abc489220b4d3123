// The text form of tables of overheads: one TOML section per part, one line per
// name.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/files/toml_read.h"
#include "base/text/join.h"
#include "cost/overheads/overhead_table.h"

namespace stepcast::cost {
namespace {

constexpr std::string_view kName = "name";
constexpr std::string_view kProfiler = "profiler_us_per_event";
constexpr std::string_view kColumns =
    "count, mean_us, std_us, p10_us, p50_us, p90_us, events";

// A basic string of TOML.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted += fmt::format("\\u{:04x}", c);
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

Result<OverheadRow> ReadRow(const toml::node& node) {
  const toml::array* list = node.as_array();
  std::array<double, kOverheadColumnCount> values{};
  bool good = list != nullptr && list->size() == values.size();
  for (size_t i = 0; good && i < values.size(); ++i) {
    const auto value = (*list)[i].value<double>();
    good = value.has_value();
    values[i] = value.value_or(0);
  }
  const auto row = good ? MakeOverheadRow(values) : std::nullopt;
  if (!row) {
    return FailAt(node, fmt::format("expected [{}]: seven numbers from 0 up, "
                                    "the quantiles in order",
                                    kColumns));
  }
  return *row;
}

Status ReadPart(std::string_view name, const toml::node& node,
                OverheadData& data) {
  const auto part = FindOverheadPart(name);
  const toml::table* rows = node.as_table();
  if (!part || rows == nullptr) {
    std::vector<std::string_view> known = {kName, kProfiler};
    for (size_t i = 0; i < kOverheadPartCount; ++i) {
      known.push_back(Name(static_cast<OverheadPart>(i)));
    }
    return FailAt(node, part ? fmt::format("'{}' must be a table", name)
                             : fmt::format("unknown key '{}'; expected one "
                                           "of: {}",
                                           name, Join(known, ", ")));
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
  for (const std::string& line : data.provenance) {
    text += fmt::format("# {}\n", line);
  }
  text += fmt::format("\n{} = {}\n{} = {:.4g}\n", kName, Quoted(data.name),
                      kProfiler, data.profiler_us_per_event);
  text += fmt::format("\n# A row is [{}].\n", kColumns);
  for (size_t i = 0; i < kOverheadPartCount; ++i) {
    if (data.parts[i].empty()) {
      continue;
    }
    text += fmt::format("\n[{}]\n", Name(static_cast<OverheadPart>(i)));
    for (const auto& [name, row] : data.parts[i]) {
      text += fmt::format(
          "{} = [{}, {:.3f}, {:.3f}, {:.3f}, {:.3f}, {:.3f}, {:.2f}]\n",
          Quoted(name), row.count, row.mean_us, row.std_us, row.p10_us,
          row.p50_us, row.p90_us, row.events);
    }
  }
  return text;
}

Result<OverheadData> ParseOverheads(std::string_view text,
                                    std::string_view source) {
  if (auto plain = ParseOverheadLines(text)) {
    plain->provenance = LeadingComments(text);
    return *std::move(plain);
  }
  ASSIGN_OR_RETURN(const toml::table table, ParseToml(text, source));
  OverheadData data;
  data.provenance = LeadingComments(text);
  ASSIGN_OR_RETURN(data.name, GetString(table, kName));
  const toml::node* profiler = table.get(kProfiler);
  const auto cost = profiler == nullptr ? std::optional<double>(0)
                                        : profiler->value<double>();
  if (!cost || !IsProfilerCost(*cost)) {
    return FailAt(*profiler, fmt::format("'{}' must be a number from 0 to 1000",
                                         kProfiler));
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
