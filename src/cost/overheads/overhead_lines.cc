#include "cost/overheads/overhead_lines.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <system_error>
#include <utility>

#include "base/ascii.h"

namespace stepcast::cost {
namespace {

// A number of plain digits, as TOML and we write them.
std::optional<double> PlainNumber(std::string_view text) {
  const bool plain =
      !text.empty() && IsDigit(text.front()) && IsDigit(text.back()) &&
      std::ranges::all_of(text, [](char c) { return IsDigit(c) || c == '.'; });
  const bool padded = text.size() > 1 && text[0] == '0' && text[1] != '.';
  double value = 0;
  if (!plain || padded) {
    return std::nullopt;
  }
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? std::optional(value)
                                             : std::nullopt;
}

// Takes `prefix` off the front; false if it is not there.
bool Take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) {
    return false;
  }
  text.remove_prefix(prefix.size());
  return true;
}

// Takes a string without anything to escape off the front.
std::optional<std::string_view> TakeString(std::string_view& text) {
  if (!Take(text, "\"")) {
    return std::nullopt;
  }
  const size_t size = text.find('"');
  const std::string_view inside = text.substr(0, size);
  const bool plain = std::ranges::all_of(
      inside, [](char c) { return c >= ' ' && c <= '~' && c != '\\'; });
  if (size == std::string_view::npos || !plain) {
    return std::nullopt;
  }
  text.remove_prefix(size + 1);
  return inside;
}

// "[217, 84.091, 96.715, 2.384, 25.837, 213.888, 0.24]".
std::optional<OverheadRow> ReadRow(std::string_view text) {
  if (!Take(text, "[") || !text.ends_with(']')) {
    return std::nullopt;
  }
  text.remove_suffix(1);
  std::array<double, kOverheadColumnCount> values{};
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t size = std::min(text.find(", "), text.size());
    const auto value = PlainNumber(text.substr(0, size));
    text.remove_prefix(size);
    const bool last = i + 1 == values.size();
    if (!value || (last ? !text.empty() : !Take(text, ", "))) {
      return std::nullopt;
    }
    values[i] = *value;
  }
  return MakeOverheadRow(values);
}

class LineReader {
 public:
  bool Read(std::string_view line) {
    if (line.empty() || line.starts_with('#')) {
      return true;
    }
    if (line.starts_with('[')) {
      return ReadPart(line);
    }
    return rows_ == nullptr ? ReadHeader(line) : ReadRowOf(line);
  }

  std::optional<OverheadData> Take() {
    return data_.name.empty() ? std::nullopt : std::optional(std::move(data_));
  }

 private:
  bool ReadHeader(std::string_view line) {
    if (cost::Take(line, "name = ")) {
      const auto name = TakeString(line);
      const bool good = name && line.empty() && data_.name.empty();
      data_.name = good ? *name : std::string_view();
      return good;
    }
    if (!cost::Take(line, "profiler_us_per_event = ") || has_profiler_) {
      return false;
    }
    has_profiler_ = true;
    const auto cost = PlainNumber(line);
    data_.profiler_us_per_event = cost.value_or(0);
    return cost && IsProfilerCost(*cost);
  }

  bool ReadPart(std::string_view line) {
    if (!cost::Take(line, "[") || !line.ends_with(']')) {
      return false;
    }
    line.remove_suffix(1);
    const auto part = FindOverheadPart(line);
    if (!part || seen_[static_cast<size_t>(*part)]) {
      return false;  // A part that comes twice is no TOML.
    }
    seen_[static_cast<size_t>(*part)] = true;
    rows_ = &data_[*part];
    return true;
  }

  bool ReadRowOf(std::string_view line) {
    const auto name = TakeString(line);
    if (!name || !cost::Take(line, " = ")) {
      return false;
    }
    const auto row = ReadRow(line);
    return row && rows_->emplace(*name, *row).second;
  }

  OverheadData data_;
  OverheadRows* rows_ = nullptr;  // Of the part at hand.
  bool has_profiler_ = false;
  std::array<bool, kOverheadPartCount> seen_{};
};

}  // namespace

std::optional<OverheadData> ParseOverheadLines(std::string_view text) {
  LineReader reader;
  while (!text.empty()) {
    const size_t size = std::min(text.find('\n'), text.size());
    // What a comment may hold is for the reader of TOML to say.
    const std::string_view line = text.substr(0, size);
    const bool plain =
        std::ranges::all_of(line, [](char c) { return c >= ' ' && c <= '~'; });
    if (!plain || !reader.Read(line)) {
      return std::nullopt;
    }
    text.remove_prefix(std::min(size + 1, text.size()));
  }
  return reader.Take();
}

std::optional<OverheadRow> MakeOverheadRow(
    std::span<const double, kOverheadColumnCount> values) {
  // Longer than any step; what is above is a mistake.
  constexpr double kLongestUs = 1e9;
  constexpr double kMostCount = 1e15;  // Exact in a double.
  for (size_t i = 0; i < values.size(); ++i) {
    if (!(values[i] >= 0 && values[i] <= (i == 0 ? kMostCount : kLongestUs))) {
      return std::nullopt;
    }
  }
  if (values[3] > values[4] || values[4] > values[5]) {
    return std::nullopt;
  }
  return OverheadRow{.count = static_cast<int64_t>(values[0]),
                     .mean_us = values[1],
                     .std_us = values[2],
                     .p10_us = values[3],
                     .p50_us = values[4],
                     .p90_us = values[5],
                     .events = values[6]};
}

std::optional<OverheadPart> FindOverheadPart(std::string_view name) {
  for (size_t i = 0; i < kOverheadPartCount; ++i) {
    const auto part = static_cast<OverheadPart>(i);
    if (Name(part) == name) {
      return part;
    }
  }
  return std::nullopt;
}

bool IsProfilerCost(double us_per_event) {
  constexpr double kMost = 1000;  // A millisecond an event.
  return us_per_event >= 0 && us_per_event <= kMost;
}

}  // namespace stepcast::cost
