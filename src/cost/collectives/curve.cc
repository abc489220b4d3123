#include "cost/collectives/curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/files/toml_read.h"
#include "base/text/join.h"
#include "ir/names.h"

namespace stepcast::cost {
namespace {

constexpr std::array<std::string_view, 12> kKeys = {
    "kind",    "ranks",   "nodes",      "adds_bytes", "rows",   "from_log2",
    "time_us", "bus_gbs", "latency_us", "blend",      "spread", "source"};

Result<int> GetCount(const toml::table& table, std::string_view key) {
  const toml::node* node = table.get(key);
  const auto value = node == nullptr ? std::nullopt : node->value<int64_t>();
  // More ranks than any job has.
  constexpr int64_t kMost = 1 << 20;
  if (!value || *value < 1 || *value > kMost) {
    return FailAt(node == nullptr ? table : *node,
                  fmt::format("'{}' must be a whole number above 0", key));
  }
  return static_cast<int>(*value);
}

Result<std::optional<double>> GetPositive(const toml::table& table,
                                          std::string_view key) {
  const toml::node* node = table.get(key);
  if (node == nullptr) {
    return std::optional<double>();
  }
  const auto value = node->value<double>();
  if (!value || !(*value > 0) || !std::isfinite(*value)) {
    return FailAt(*node, fmt::format("'{}' must be a number above 0", key));
  }
  return value;
}

Result<std::vector<double>> GetNumbersIfAny(const toml::table& table,
                                            std::string_view key) {
  std::vector<double> numbers;
  const toml::node* node = table.get(key);
  if (node == nullptr) {
    return numbers;
  }
  const toml::array* array = node->as_array();
  if (array == nullptr) {
    return FailAt(*node, fmt::format("'{}' must be a list of numbers", key));
  }
  for (const toml::node& item : *array) {
    const auto value = item.value<double>();
    if (!value || !std::isfinite(*value)) {
      return FailAt(item, fmt::format("'{}' must be a list of numbers", key));
    }
    numbers.push_back(*value);
  }
  return numbers;
}

Status ReadTimes(const toml::table& table, CollectiveCurve& curve) {
  ASSIGN_OR_RETURN(curve.us, GetNumbersIfAny(table, "time_us"));
  curve.from_log2 = table["from_log2"].value_or(0.0);
  if (!(curve.from_log2 >= -4 && curve.from_log2 <= 60)) {
    return FailAt(table, "'from_log2' is not a size; expected -4 to 60");
  }
  const bool falls = !std::ranges::is_sorted(curve.us);
  if (falls || (curve.has_times() && !(curve.us.front() > 0))) {
    return FailAt(*table.get("time_us"),
                  "'time_us' must be above 0 and never fall");
  }
  ASSIGN_OR_RETURN(const auto spread, GetNumbersIfAny(table, "spread"));
  if (!spread.empty()) {
    if (spread.size() != 2 || !(spread[0] <= 0 && spread[1] >= 0)) {
      return FailAt(*table.get("spread"),
                    "'spread' must be two numbers, below and above 0");
    }
    curve.log2_p10 = spread[0];
    curve.log2_p90 = spread[1];
  }
  return {};
}

Result<CollectiveCurve> ReadCurve(const toml::table& table) {
  RETURN_IF_ERROR(CheckKeys(table, kKeys));
  CollectiveCurve curve;
  ASSIGN_OR_RETURN(const std::string kind, GetString(table, "kind"));
  const auto known = ir::FromName<ir::CollectiveKind>(kind);
  if (!known || *known == ir::CollectiveKind::kUnknown) {
    return FailAt(*table.get("kind"),
                  fmt::format("'{}' is not a collective; expected "
                              "all_reduce, all_to_all, ...",
                              kind));
  }
  curve.kind = *known;
  ASSIGN_OR_RETURN(curve.group.ranks, GetCount(table, "ranks"));
  ASSIGN_OR_RETURN(curve.group.nodes, GetCount(table, "nodes"));
  if (curve.group.ranks % curve.group.nodes != 0) {
    return FailAt(table, "every node must have as many ranks");
  }
  curve.adds_bytes = table["adds_bytes"].value_or(false);
  curve.rows = static_cast<size_t>(
      std::max<int64_t>(0, table["rows"].value_or(int64_t{0})));
  ASSIGN_OR_RETURN(curve.latency_us, GetPositive(table, "latency_us"));
  ASSIGN_OR_RETURN(curve.bus_gbs, GetPositive(table, "bus_gbs"));
  ASSIGN_OR_RETURN(curve.blend, GetPositive(table, "blend"));
  ASSIGN_OR_RETURN(curve.source, GetOptionalString(table, "source"));
  RETURN_IF_ERROR(ReadTimes(table, curve));
  return curve;
}

void AppendNumbers(std::string& text, std::string_view key,
                   const std::vector<double>& numbers) {
  std::vector<std::string> texts;
  texts.reserve(numbers.size());
  for (const double number : numbers) {
    texts.push_back(fmt::format("{:.4g}", number));
  }
  text += fmt::format("{} = [{}]\n", key, Join(texts, ", "));
}

}  // namespace

bool CollectiveCurve::Covers(double wire_bytes) const {
  // Sizes are an octave apart: up to half an octave further is still next to
  // data.
  const double at = std::log2(std::max(wire_bytes, 1e-3)) - from_log2;
  return has_times() && at >= -0.5 &&
         at <= static_cast<double>(us.size()) - 0.5;
}

Ramp CollectiveCurve::Improve(Ramp ramp) const {
  ramp.latency_us = latency_us.value_or(ramp.latency_us);
  ramp.bus_gbs = bus_gbs.value_or(ramp.bus_gbs);
  ramp.blend = blend.value_or(ramp.blend);
  return ramp;
}

double CollectiveCurve::Us(double wire_bytes, const Ramp& ramp) const {
  const Ramp better = Improve(ramp);
  if (!has_times()) {
    return better.Us(wire_bytes);
  }
  const auto last = static_cast<double>(us.size() - 1);
  const double at = std::log2(std::max(wire_bytes, 1e-3)) - from_log2;
  if (at <= 0) {
    return us.front() * better.Us(wire_bytes) / better.Us(std::exp2(from_log2));
  }
  if (at >= last) {
    return us.back() * better.Us(wire_bytes) /
           better.Us(std::exp2(from_log2 + last));
  }
  const auto left = static_cast<size_t>(at);
  const double part = at - static_cast<double>(left);
  return us[left] * std::pow(us[left + 1] / us[left], part);
}

Result<CollectiveProfile> ParseCollectiveProfile(std::string_view text,
                                                 std::string_view source) {
  ASSIGN_OR_RETURN(const toml::table table, ParseToml(text, source));
  constexpr std::array<std::string_view, 2> kTop = {"system", "curve"};
  RETURN_IF_ERROR(CheckKeys(table, kTop));
  CollectiveProfile profile;
  ASSIGN_OR_RETURN(profile.system, GetString(table, "system"));
  const toml::array* curves = table["curve"].as_array();
  if (curves == nullptr) {
    return FailAt(table, "no [[curve]]");
  }
  for (const toml::node& node : *curves) {
    const toml::table* item = node.as_table();
    if (item == nullptr) {
      return FailAt(node, "'curve' must be a list of tables");
    }
    ASSIGN_OR_RETURN(CollectiveCurve curve, ReadCurve(*item));
    profile.curves.push_back(std::move(curve));
  }
  return profile;
}

std::string CollectiveProfileText(const CollectiveProfile& profile,
                                  std::string_view provenance) {
  std::string text =
      fmt::format("# {}\nsystem = \"{}\"\n", provenance, profile.system);
  for (const CollectiveCurve& curve : profile.curves) {
    text +=
        fmt::format("\n[[curve]]\nkind = \"{}\"\nranks = {}\nnodes = {}\n",
                    ir::Name(curve.kind), curve.group.ranks, curve.group.nodes);
    if (curve.adds_bytes) {
      text += "adds_bytes = true\n";
    }
    text += fmt::format("rows = {}\n", curve.rows);
    for (const auto& [key, value] : {std::pair("latency_us", curve.latency_us),
                                     std::pair("bus_gbs", curve.bus_gbs),
                                     std::pair("blend", curve.blend)}) {
      if (value) {
        text += fmt::format("{} = {:.4g}\n", key, *value);
      }
    }
    if (curve.has_times()) {
      text += fmt::format("from_log2 = {:.4f}\n", curve.from_log2);
      AppendNumbers(text, "time_us", curve.us);
    }
    AppendNumbers(text, "spread", {curve.log2_p10, curve.log2_p90});
  }
  return text;
}

}  // namespace stepcast::cost
