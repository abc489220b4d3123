#include "cost/overheads/overhead_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cost/overheads/op_names.h"

namespace stepcast::cost {
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

// The value below which a share of the mixture lies. Each row's distribution
// is straight lines through (0 or p10 less half its way to p50, 0 %), p10, p50,
// p90, and as far above p90 again.
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

}  // namespace stepcast::cost
