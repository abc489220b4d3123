#include "cost/overheads/overhead_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "base/files/catalog.h"
#include "base/text/ascii.h"
#include "cost/overheads/op_names.h"

namespace stepcast {

std::span<const EmbeddedFile> OverheadFileTexts();

}  // namespace stepcast

namespace stepcast::cost {

namespace {

const Catalog<OverheadData>& OverheadFiles() {
  static const Catalog<OverheadData> files(
      {.what = "overheads", .files = OverheadFileTexts()}, &ParseOverheads);
  return files;
}

}  // namespace

const std::vector<std::string>& OverheadNames() {
  return OverheadFiles().names();
}

Result<const OverheadData*> FindOwnOverheads(std::string_view name) {
  return OverheadFiles().Find(name);
}

Result<OverheadData> LoadOverheads(std::string_view name) {
  ASSIGN_OR_RETURN(const OverheadData* data, FindOwnOverheads(name));
  ASSIGN_OR_RETURN(const OverheadData* shared,
                   FindOwnOverheads(kSharedOverheads));
  return data == shared ? *data : Completed(*data, *shared);
}

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
      return false;  // A part that comes twice is not TOML.
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

namespace {

// T4 and the tails of syncs are by call, the rest of the host by op.
bool IsByCall(OverheadPart part) {
  return part == OverheadPart::kCall || part == OverheadPart::kSyncTail;
}
bool IsByOp(OverheadPart part) {
  return part <= OverheadPart::kNoLaunch && !IsByCall(part);
}

// "cudaLaunchKernel" of "launch cudaLaunchKernel", and "launch".
std::string_view CallName(std::string_view key) {
  const size_t space = key.find(' ');
  return space == std::string_view::npos ? key : key.substr(space + 1);
}
std::string_view CallKindWord(std::string_view key) {
  return key.substr(0, std::min(key.find(' '), key.size()));
}

// CUDA and HIP name the same calls alike: "LaunchKernel".
std::string_view WithoutVendor(std::string_view call) {
  for (const std::string_view prefix : {"cuda", "hip", "cu"}) {
    if (call.starts_with(prefix)) {
      return call.substr(prefix.size());
    }
  }
  return call;
}

// Rows of names with the same one are similar; empty: none.
std::string_view SimilarName(OverheadPart part, std::string_view name) {
  return IsByCall(part) ? WithoutVendor(CallName(name))
         : IsByOp(part) ? PlainOpName(name)
                        : std::string_view();
}
std::string_view FamilyName(OverheadPart part, std::string_view name) {
  return IsByCall(part) ? CallKindWord(name)
         : IsByOp(part) ? OpFamily(name)
                        : std::string_view();
}

// The share of a row's distribution below a value. The distribution is linear
// between (0 or p10 less half its way to p50, 0 %), p10, p50, p90, and as far
// above p90 again.
double ShareBelow(const OverheadRow& row, double value) {
  const double low = std::max(0.0, row.p10_us - (row.p50_us - row.p10_us) / 2);
  const double high = row.p90_us + (row.p90_us - row.p50_us) / 2;
  const std::array<std::pair<double, double>, 5> knots = {{{low, 0},
                                                           {row.p10_us, 0.1},
                                                           {row.p50_us, 0.5},
                                                           {row.p90_us, 0.9},
                                                           {high, 1}}};
  if (value >= high) {
    return 1;
  }
  for (size_t i = knots.size() - 1; i-- > 0;) {
    if (value >= knots[i].first) {
      const double width = knots[i + 1].first - knots[i].first;
      const double part = width > 0 ? (value - knots[i].first) / width : 1;
      return knots[i].second + part * (knots[i + 1].second - knots[i].second);
    }
  }
  return 0;
}

double MixtureQuantile(std::span<const OverheadRow> rows, double total,
                       double share) {
  double low = 0;
  double high = 0;
  for (const OverheadRow& row : rows) {
    high = std::max(high, 2 * row.p90_us);
  }
  constexpr int kHalvings = 40;  // To a millionth of a millionth.
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    double below = 0;
    for (const OverheadRow& row : rows) {
      below += static_cast<double>(row.count) * ShareBelow(row, middle);
    }
    (below < share * total ? low : high) = middle;
  }
  return high;
}

OverheadRows PoolBy(const OverheadRows& rows, OverheadPart part,
                    std::string_view (*key)(OverheadPart, std::string_view)) {
  std::map<std::string, std::vector<OverheadRow>, std::less<>> groups;
  for (const auto& [name, row] : rows) {
    const std::string_view group = key(part, name);
    if (name != kPooledName && !group.empty()) {
      groups[std::string(group)].push_back(row);
    }
  }
  OverheadRows pooled;
  for (const auto& [group, members] : groups) {
    pooled.emplace(group, Pool(members));
  }
  return pooled;
}

}  // namespace

std::string_view Name(OverheadPart part) {
  if (static_cast<size_t>(part) < kHostKindCount) {
    return Name(static_cast<HostKind>(part));
  }
  constexpr std::array<std::string_view, kOverheadPartCount - kHostKindCount>
      kNames = {"sync_tail", "launch_latency", "work_gap", "stream_wait"};
  return kNames[static_cast<size_t>(part) - kHostKindCount];
}

std::string_view Name(OverheadSource source) {
  constexpr std::array<std::string_view, kOverheadSourceCount> kNames = {
      "exact", "similar", "pooled", "missing"};
  return kNames[static_cast<size_t>(source)];
}

OverheadRow Pool(std::span<const OverheadRow> rows) {
  if (rows.size() == 1) {
    return rows.front();
  }
  OverheadRow pooled;
  double total = 0;
  double square = 0;
  for (const OverheadRow& row : rows) {
    const auto count = static_cast<double>(row.count);
    pooled.count += row.count;
    total += count;
    pooled.mean_us += count * row.mean_us;
    pooled.events += count * row.events;
    square += count * (row.std_us * row.std_us + row.mean_us * row.mean_us);
  }
  if (total == 0) {
    return {};
  }
  pooled.mean_us /= total;
  pooled.events /= total;
  pooled.std_us = std::sqrt(
      std::max(0.0, square / total - pooled.mean_us * pooled.mean_us));
  pooled.p10_us = MixtureQuantile(rows, total, 0.1);
  pooled.p50_us = MixtureQuantile(rows, total, 0.5);
  pooled.p90_us = MixtureQuantile(rows, total, 0.9);
  return pooled;
}

OverheadTable::OverheadTable(OverheadData data) : data_(std::move(data)) {
  for (size_t i = 0; i < kOverheadPartCount; ++i) {
    const auto part = static_cast<OverheadPart>(i);
    const OverheadRows& rows = data_.parts[i];
    Index& index = indices_[i];
    index.any = !rows.empty();
    std::vector<OverheadRow> all;
    for (const auto& [name, row] : rows) {
      if (name == kPooledName) {
        continue;
      }
      const StringId id = names_.Intern(name);
      index.rows.resize(std::max<size_t>(index.rows.size(), id.value + 1));
      index.present.resize(index.rows.size());
      index.rows[id.value] = row;
      index.present[id.value] = true;
      all.push_back(row);
    }
    index.similar = PoolBy(rows, part, SimilarName);
    index.families = PoolBy(rows, part, FamilyName);
    const auto pooled = rows.find(kPooledName);
    index.pooled = pooled != rows.end() ? pooled->second : Pool(all);
  }
}

Overhead OverheadTable::Lookup(OverheadPart part, std::string_view name) const {
  const Index& index = indices_[static_cast<size_t>(part)];
  if (!index.any) {
    return {};
  }
  const StringId id = names_.Find(name);
  if (id.valid() && id.value < index.rows.size() && index.present[id.value]) {
    return {.row = index.rows[id.value], .source = OverheadSource::kExact};
  }
  auto found = index.similar.find(SimilarName(part, name));
  if (found != index.similar.end()) {
    return {.row = found->second, .source = OverheadSource::kSimilar};
  }
  found = index.families.find(FamilyName(part, name));
  if (found != index.families.end()) {
    return {.row = found->second, .source = OverheadSource::kSimilar};
  }
  return {.row = index.pooled, .source = OverheadSource::kPooled};
}

double OverheadTable::WithoutProfiler(const OverheadRow& row) const {
  return std::max(0.0, row.mean_us - row.events * data_.profiler_us_per_event);
}

OverheadData Completed(OverheadData data, const OverheadData& other) {
  for (size_t i = 0; i < kOverheadPartCount; ++i) {
    const OverheadRows& rows = other.parts[i];
    if (data.parts[i].empty() && !rows.empty()) {
      data.parts[i] = rows;
    }
  }
  return data;
}

std::string_view Name(HostKind kind) {
  constexpr std::array<std::string_view, kHostKindCount> kNames = {
      "t1", "t2", "t3", "t4", "t5", "no_launch", "hand_over"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace stepcast::cost
